import { listOf } from '../../../../shared/json/json-object.ts';
import { type Json, objectsOf, textOf } from '../../json.ts';
import type { ItemProgress } from './item-states.ts';

/**
 * The events that a stream omitted before the end of an item. Clients assemble answers from these events, and some
 * providers only send the last one of each item. Source: the Open Responses specification, streaming.
 */
export function missingEvents({
  item,
  outputIndex,
  hasContent,
  isClosed,
  startEvents,
  reasoningSource,
}: ItemProgress): Json[] {
  if (isClosed || reasoningSource === 'content') return [];
  return eventsBeforeEnd(item, outputIndex).filter(
    ({ type }) => type.endsWith('.done') || !(hasContent || startEvents.has(type)),
  );
}

type Event = Json & { type: string };

/** The part of the arguments that no delta had. */
export function argumentsDelta({ item_id, output_index }: Json, delta: string): Event {
  return { type: 'response.function_call_arguments.delta', item_id, output_index, delta };
}

/** All events of an item except the last one. */
function eventsBeforeEnd(item: Json, output_index: number): Event[] {
  const at = { item_id: textOf(item.id) ?? '', output_index };
  const added = (empty: Json) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, status: 'in_progress', ...empty },
  });
  switch (item.type) {
    case 'message': {
      const parts = objectsOf(item.content);
      return [
        added({ content: [] }),
        ...parts.flatMap((part, content_index) => partEvents(part, { ...at, content_index })),
      ];
    }
    case 'function_call': {
      const of = (what: string, text: Json) => ({
        type: `response.function_call_arguments.${what}`,
        ...at,
        ...text,
      });
      const { arguments: args } = item;
      return [added({ arguments: '' }), of('delta', { delta: args }), of('done', { arguments: args })];
    }
    case 'custom_tool_call': {
      const of = (what: string, text: Json) => ({
        type: `response.custom_tool_call_input.${what}`,
        ...at,
        ...text,
      });
      const input = textOf(item.input) ?? '';
      return [added({ input: '' }), of('delta', { delta: input }), of('done', { input })];
    }
    case 'reasoning': {
      const parts = objectsOf(item.summary);
      return [
        added({ summary: [], status: item.status }),
        ...parts.flatMap((part, summary_index) => summaryPartEvents(part, { ...at, summary_index })),
      ];
    }
    default:
      return [added({})];
  }
}

function partEvents(part: Json, at: Json): Event[] {
  const isText = part.type === 'output_text';
  const field = isText ? 'text' : 'refusal';
  const text = part[field];
  const logprobs = isText && { logprobs: part.logprobs ?? [] };
  const name = `response.${isText ? 'output_text' : 'refusal'}`;
  const around = (what: string, shown: Json) => ({
    type: `response.content_part.${what}`,
    ...at,
    part: shown,
  });
  if (typeof text !== 'string') return [around('added', part), around('done', part)];
  return [
    around('added', { ...part, [field]: '', ...(isText && { annotations: [], logprobs: [] }) }),
    { type: `${name}.delta`, ...at, delta: text, ...logprobs },
    ...annotationEvents(part, at),
    { type: `${name}.done`, ...at, [field]: text, ...logprobs },
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

function summaryPartEvents(part: Json, at: Json): Event[] {
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
