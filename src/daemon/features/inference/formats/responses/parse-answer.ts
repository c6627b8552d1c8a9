import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { providerMembers } from '../../../../../shared/formats/response-members.ts';
import { reasoningPayload } from '../../../../../shared/formats/response-reasoning.ts';
import type { AnsweredCall } from '../../../calls/index.ts';
import type { InferenceEvent } from '../../../upstreams/neutral.ts';

/** Assembles the output of a call from a document in the Responses format. */
export function assembleAnswer(answered: AnsweredCall, document: Json): void {
  const { output, provider, providerModel: model } = answered;
  output.members = providerMembers(document);
  const items = Array.isArray(document.output) ? document.output.filter(isObject) : [];
  items.forEach((item, index) => {
    for (const event of itemAsEvents(item, index, { provider, model })) output.apply(event);
  });
}

/** A complete item of the Responses format as events, so that all answers are assembled in the same way. */
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
    case 'custom_tool_call': {
      const { call_id: callId, name, namespace, arguments: text, input } = item;
      const isCustom = item.type === 'custom_tool_call';
      const called = {
        name: String(name),
        ...(typeof namespace === 'string' && { namespace }),
        ...(isCustom && { custom: true as const }),
      };
      return [
        {
          type: 'item-started',
          index,
          item: { kind: 'function_call', callId: String(callId), ...called, ...id },
        },
        { type: 'arguments', index, delta: String((isCustom ? input : text) ?? '') },
        { type: 'item-done', index, item },
      ];
    }
    case 'reasoning': {
      const payload = reasoningPayload(item);
      return [
        { type: 'item-started', index, item: { kind: 'reasoning', ...id } },
        ...objects(item.summary).map(
          (part, position): InferenceEvent => ({
            type: 'reasoning',
            index,
            part: position,
            delta: String(part.text ?? ''),
          }),
        ),
        {
          type: 'item-done',
          index,
          item,
          ...(payload && { origin: { ...by, payload } }),
        },
      ];
    }
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
