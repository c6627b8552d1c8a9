import { isObject, type Json, listOf, textOf } from '../../json.ts';
import { isEmpty } from './answer.ts';
import type { ToldOfItem } from './item-states.ts';

/**
 * What a stream has left out of an item that it tells the end of: clients put answers together from these events, and
 * some read nothing but the last one of each item. Source: the Open Responses specification, streaming.
 */
export function eventsLeftOut({
  item,
  place,
  hasContent,
  isClosed,
  begun,
  thoughtsFrom,
}: ToldOfItem): Json[] {
  if (isClosed || thoughtsFrom === 'content') return [];
  return eventsBeforeEnd(item, place).filter(
    ({ type }) => type.endsWith('.done') || !(hasContent || begun.has(type)),
  );
}

type Event = Json & { type: string };

/** The events of a whole item but its last one. */
function eventsBeforeEnd(item: Json, output_index: number): Event[] {
  const at = { item_id: textOf(item.id) ?? '', output_index };
  const added = (empty: Json) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, status: 'in_progress', ...empty },
  });
  switch (item.type) {
    case 'message': {
      const parts = listOf(item.content).filter(isObject);
      return [
        added({ content: [] }),
        ...parts.flatMap((part, content_index) => partEvents(part, { ...at, content_index })),
      ];
    }
    case 'function_call': {
      const of = (what: string, told: Json) => ({
        type: `response.function_call_arguments.${what}`,
        ...at,
        ...told,
      });
      const args = isEmpty(item.arguments) ? '{}' : item.arguments;
      return [added({ arguments: '' }), of('delta', { delta: args }), of('done', { arguments: args })];
    }
    case 'reasoning': {
      const paragraphs = listOf(item.summary).filter(isObject);
      return [
        added({ summary: [], status: item.status }),
        ...paragraphs.flatMap((part, summary_index) => paragraphEvents(part, { ...at, summary_index })),
      ];
    }
    default:
      return [added({})];
  }
}

function partEvents(part: Json, at: Json): Event[] {
  const isText = part.type === 'output_text';
  const field = isText ? 'text' : 'refusal';
  const told = part[field];
  const logprobs = isText && { logprobs: part.logprobs ?? [] };
  const name = `response.${isText ? 'output_text' : 'refusal'}`;
  const around = (what: string, shown: Json) => ({
    type: `response.content_part.${what}`,
    ...at,
    part: shown,
  });
  if (typeof told !== 'string') return [around('added', part), around('done', part)];
  return [
    around('added', { ...part, [field]: '', ...(isText && { annotations: [], logprobs: [] }) }),
    { type: `${name}.delta`, ...at, delta: told, ...logprobs },
    ...annotationEvents(part, at),
    { type: `${name}.done`, ...at, [field]: told, ...logprobs },
    around('done', part),
  ];
}

function annotationEvents({ annotations }: Json, at: Json): Event[] {
  return listOf(annotations).map((annotation, annotation_index) => ({
    type: 'response.output_text.annotation.added',
    ...at,
    annotation_index,
    annotation,
  }));
}

function paragraphEvents(part: Json, at: Json): Event[] {
  const { text } = part;
  const around = (what: string, shown: Json) => ({
    type: `response.reasoning_summary_part.${what}`,
    ...at,
    part: shown,
  });
  return [
    around('added', { ...part, text: '' }),
    { type: 'response.reasoning_summary_text.delta', ...at, delta: text },
    { type: 'response.reasoning_summary_text.done', ...at, text },
    around('done', part),
  ];
}
