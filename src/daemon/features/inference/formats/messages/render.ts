import { unsigned } from '../../../../../shared/constants/unsigned.ts';
import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import type { MakeId } from '../../../../../shared/ids.ts';
import { parseArguments } from '../../../../../shared/json/json-text.ts';
import type { Tokens } from '../../../../../shared/money/money.ts';
import type { Output, OutputItem, Settled, StartedFailure } from '../../../calls/index.ts';
import type { FinishReason, InputItem } from '../../../upstreams/neutral.ts';
import { citationOf } from './citations.ts';

/** Members of a message that only Anthropic's own answers fill. */
const unused = { container: null, diagnostics: null } as const;

/** Token counts in this format, whose input excludes tokens read from or written to a cache. */
export function showMessageUsage({ input, cachedInput, cacheWrite, output, reasoning }: Tokens): Json {
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}

/** The usage of a whole message, which has more members than that of a delta. */
function showWholeUsage(tokens: Tokens): Json {
  return {
    ...showMessageUsage(tokens),
    cache_creation: null,
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  };
}

export interface MessageLabel {
  id: string;
  model: string;
}

/** A message without content, as a stream starts with. */
export function emptyMessage({ id, model }: MessageLabel, tokens: Tokens): Json {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    ...unused,
    usage: showWholeUsage(tokens),
  };
}

/** The members of an answer's end, in a message and in a `message_delta`. */
export function showStop(output: Output, finish: FinishReason): Json {
  const reason = stopReason(output, finish);
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? output.stopSequence : null,
    stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

/** An answer that was cut has tool calls that are not complete, so the cut comes first. */
function stopReason({ items, stopSequence }: Output, finish: FinishReason): string {
  if (finish === 'max_output_tokens') return 'max_tokens';
  if (finish === 'content_filter' || items.some(isRefusal)) return 'refusal';
  if (items.some(({ kind }) => kind === 'function_call')) return 'tool_use';
  return stopSequence === undefined ? 'end_turn' : 'stop_sequence';
}

function isRefusal(item: OutputItem): boolean {
  return item.kind === 'message' && item.parts.some(({ type }) => type === 'refusal');
}

/** A whole message, rendered from the neutral answer. */
export function renderMessage({
  label,
  output,
  settled: { finish, tokens },
  showsThoughts,
  distinctId,
}: {
  label: MessageLabel;
  output: Output;
  settled: Pick<Settled, 'finish' | 'tokens'>;
  showsThoughts: boolean;
  distinctId: DistinctId;
}): Json {
  const content = output.items.flatMap((item) => blocksOf(item, { showsThoughts, distinctId }));
  return {
    ...emptyMessage(label, tokens),
    content: content.some(({ type }) => type === 'tool_use') ? content : finalContent(content, showsThoughts),
    ...showStop(output, finish),
  };
}

/**
 * The content of an answer without tool calls: without sealed thoughts that the caller did not ask for, or that are last.
 * Clients take the last block as the answer, and only calls need their thoughts back.
 */
function finalContent(content: Json[], showsThoughts: boolean): Json[] {
  const isSealed = ({ type }: Json) => type === 'redacted_thinking';
  if (!showsThoughts) return content.filter((block) => !isSealed(block));
  const end = content.findLastIndex((block) => !isSealed(block)) + 1;
  return end === 0 ? content : content.slice(0, end);
}

/** Returns an id that no other call of the conversation has. */
export type DistinctId = (callId: string) => string;

/**
 * Some servers number the calls of each answer from the start, and clients of this format take an id that they have seen
 * for the same call. Claude Code even confuses ids that start alike, so a new one is generated. `items` is the conversation.
 */
export function distinctCallIds(items: readonly InputItem[], makeId: MakeId): DistinctId {
  const used = new Set(items.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])));
  return (callId) => {
    const id = used.has(callId) ? makeId('call') : callId;
    used.add(id);
    return id;
  };
}

/** An item as content blocks. */
function blocksOf(
  item: OutputItem,
  { showsThoughts, distinctId }: { showsThoughts: boolean; distinctId: DistinctId },
): Json[] {
  switch (item.kind) {
    case 'message':
      // The format refuses blank text when it is sent back, and models write some in front of calls.
      return item.parts.flatMap((part) => {
        const text = part.type === 'refusal' ? part.refusal : part.text;
        if (text.trim() === '') return [];
        const annotations = part.type === 'refusal' ? [] : part.annotations;
        return [
          textBlock(
            text,
            annotations.map(citationOf).filter((each) => each !== undefined),
          ),
        ];
      });
    case 'function_call':
      return [toolBlock({ id: distinctId(item.callId), name: item.name }, inputOf(item.arguments))];
    case 'reasoning': {
      const thinking = item.parts.filter(Boolean).join(paragraphGap);
      if (thinking !== '' && showsThoughts)
        return [{ type: 'thinking', thinking, signature: item.sealed ?? unsigned }];
      return item.sealed === undefined ? [] : [redactedBlock(item.sealed)];
    }
    case 'opaque':
      return [];
  }
}

/** This format has no paragraphs in thoughts. */
export const paragraphGap = '\n\n';

/** Without citations it has no such member: clients that check answers accept a list or nothing. */
export function textBlock(text: string, citations: readonly Json[] = []): Json {
  return { type: 'text', text, ...(citations.length > 0 && { citations }) };
}

/** Thoughts that can only be sent back: sealed, without a text that the caller may see. */
export function redactedBlock(sealed: string): Json {
  return { type: 'redacted_thinking', data: sealed };
}

export function toolBlock({ id, name }: { id: string; name: string }, input: Json): Json {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } };
}

/** The arguments as an object; models write invalid JSON at times, above all when they are cut. */
function inputOf(text: string): Json {
  try {
    const input = parseArguments(text);
    return isObject(input) ? input : { value: input };
  } catch {
    return {};
  }
}

const errorTypes = new Set([
  ...[
    'invalid_request_error',
    'authentication_error',
    'billing_error',
    'permission_error',
    'not_found_error',
  ],
  ...['request_too_large', 'rate_limit_error', 'timeout_error', 'api_error', 'overloaded_error'],
]);

/** The type of a failure after the start: the provider's own if it is one of this format's. */
export function startedErrorType({ type, code }: StartedFailure): string {
  if (errorTypes.has(code)) return code;
  if (type === 'rate_limited') return 'rate_limit_error';
  if (type === 'unavailable') return 'overloaded_error';
  if (type === 'unauthorized') return 'authentication_error';
  if (type === 'limit_reached') return 'permission_error';
  return 'api_error';
}
