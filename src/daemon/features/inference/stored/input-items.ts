import type { Input } from '../../../../shared/contract/endpoint.ts';
import type { listInputItems } from '../../../../shared/contract/stored-responses.ts';
import { invalid, isObject, type Json } from '../fault.ts';

type Query = Input<typeof listInputItems>['query'];

/** A page of a response's input items (JSON text), newest first by default, as in OpenAI's API. */
export function pageOfInput(input: string, { order = 'desc', after, limit = 20 }: Query) {
  const items = (JSON.parse(input) as Json[]).map(showInputItem);
  if (order === 'desc') items.reverse();
  const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1;
  if (after !== undefined && start === 0) throw invalid('after', 'No input item has this id.');
  const data = items.slice(start, start + limit);
  return {
    object: 'list' as const,
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: start + limit < items.length,
  };
}

/** Fills in the members that callers may omit. */
function showInputItem(item: Json): Json {
  const type = item.type ?? 'message';
  if (type !== 'message') return { ...item, type };
  const { content } = item;
  const textType = item.role === 'assistant' ? 'output_text' : 'input_text';
  return {
    status: 'completed',
    ...item,
    type,
    content: typeof content === 'string' ? [{ type: textType, text: content }] : content,
  };
}

function idOf(item: Json | undefined): string | null {
  return isObject(item) && typeof item.id === 'string' ? item.id : null;
}
