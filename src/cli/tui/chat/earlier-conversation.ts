import { getResponse, listInputItems } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { responseText } from '../../../shared/formats/response-text.ts';
import type { Part } from '../../commands/respond/attachment.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import type { Turn } from './conversation.ts';

/** A stored conversation, as its last response leads to it. */
export interface EarlierConversation {
  /** The last response. */
  response: string;
  model: string;
  system: string | undefined;
  turns: Turn[];
  /** Whether `turns` starts at its beginning. */
  isWhole: boolean;
}

const responsesMax = 20;

/** Reads the end of a conversation, from its last response backwards. */
export async function readConversation(context: Context, id: string): Promise<EarlierConversation> {
  const last = await stored(context, id);
  if (last === undefined)
    throw new CliError(`The conversation of ${id} is not stored any more.`, {
      exit: exitCodes.failed,
      next: 'List the stored responses: gateway responses list',
    });
  let response: typeof last | undefined = last;
  const turns: Turn[] = [];
  for (let count = 0; response !== undefined && count < responsesMax; count += 1) {
    const { data } = await context
      .client()
      .call(listInputItems, { params: { id: response.id }, query: { order: 'asc', limit: 100 } });
    const text = responseText(response.output);
    const answer: Turn = { role: 'assistant', text, model: response.model };
    turns.unshift(...data.flatMap(turnOf), ...(text === '' ? [] : [answer]));
    const before: string | null = response.previous_response_id;
    response = before === null ? undefined : await stored(context, before);
  }
  const { model, instructions } = last;
  const system = typeof instructions === 'string' ? instructions : undefined;
  return { response: id, model, system, turns, isWhole: response === undefined };
}

/** A stored response; undefined if it was deleted or has expired. */
async function stored(context: Context, id: string) {
  try {
    return await context.client().call(getResponse, { params: { id }, query: {} });
  } catch (error) {
    if (error instanceof ReceivedError && /not_found$/.test(error.code)) return undefined;
    throw error;
  }
}

/** An input item as a turn; none if it is no message. */
function turnOf({ type, role, content }: Record<string, unknown>): Turn[] {
  if (type !== 'message' || (role !== 'user' && role !== 'assistant')) return [];
  if (typeof content === 'string') return [{ role, text: content }];
  if (!Array.isArray(content)) return [];
  const all = content as (Part | { type: 'output_text'; text: string })[];
  const isText = (part: (typeof all)[number]) => part.type === 'input_text' || part.type === 'output_text';
  const [first, ...others] = all;
  const text = first && 'text' in first && isText(first) ? first.text : '';
  const parts = (text === '' ? all : others).filter((part): part is Part => part.type !== 'output_text');
  return [{ role, text, ...(parts.length > 0 && { parts }) }];
}
