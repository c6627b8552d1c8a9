import { isObject, type Json } from '../../fault.ts';
import type { InferenceEvent } from '../../neutral.ts';

/** A finished item of the Responses format as the events that make it, so that there is one way to put answers together. */
export function itemAsEvents(
  item: Json,
  index: number,
  by: { provider: string; model: string },
): InferenceEvent[] {
  const id = typeof item.id === 'string' ? { id: item.id } : {};
  switch (item.type) {
    case 'message':
      return [
        { type: 'item-started', index, item: { kind: 'message', ...id } },
        ...objects(item.content).flatMap((part) => partAsEvents(part, index)),
        { type: 'item-done', index, item },
      ];
    case 'function_call':
      return [
        {
          type: 'item-started',
          index,
          item: { kind: 'function_call', callId: String(item.call_id), name: String(item.name), ...id },
        },
        { type: 'arguments', index, delta: String(item.arguments ?? '') },
        { type: 'item-done', index, item },
      ];
    case 'reasoning':
      return [
        { type: 'item-started', index, item: { kind: 'reasoning', ...id } },
        ...objects(item.summary).map(
          (part, place): InferenceEvent => ({
            type: 'reasoning',
            index,
            part: place,
            delta: String(part.text ?? ''),
          }),
        ),
        {
          type: 'item-done',
          index,
          item,
          ...(typeof item.encrypted_content === 'string' && {
            origin: { ...by, payload: { encrypted_content: item.encrypted_content, ...id } },
          }),
        },
      ];
    default:
      return [
        { type: 'item-started', index, item: { kind: 'opaque', json: item } },
        { type: 'item-done', index, item },
      ];
  }
}

function partAsEvents(part: Json, index: number): InferenceEvent[] {
  if (part.type === 'refusal') return [{ type: 'refusal', index, delta: String(part.refusal ?? '') }];
  const logprobs = Array.isArray(part.logprobs) ? { logprobs: part.logprobs } : {};
  return [
    { type: 'text', index, delta: String(part.text ?? ''), ...logprobs },
    ...objects(part.annotations).map(
      (annotation): InferenceEvent => ({ type: 'annotation', index, annotation }),
    ),
  ];
}

function objects(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
