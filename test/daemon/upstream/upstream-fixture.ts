import type {
  Batch,
  Inference,
  InferenceEvent,
  RawFrame,
} from '../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamAnswer, UpstreamCall } from '../../../src/daemon/features/upstreams/upstream.ts';
import type { Decoder } from '../../../src/daemon/upstream/adapter.ts';
import { inferenceOf, user } from '../../support/inference.ts';

type Json = Record<string, unknown>;

/** A minimal call, to be varied. */
export function callOf(
  more: Partial<Inference> = {},
  route: Partial<Omit<UpstreamCall, 'inference'>> = {},
): UpstreamCall {
  const wire = more.wire ?? 'chat';
  const inference = inferenceOf({
    wire,
    model: 'openai/gpt-fake',
    items: [user('Hi')],
    body:
      wire === 'chat'
        ? { model: 'openai/gpt-fake', messages: [{ role: 'user', content: 'Hi' }] }
        : { model: 'openai/gpt-fake', input: 'Hi' },
    ...more,
  });
  return {
    inference,
    model: 'gpt-fake',
    wire: undefined,
    key: 'sk-test',
    outputTokensMax: undefined,
    ...route,
  };
}

export interface Decoded {
  events: InferenceEvent[];
  frames: RawFrame[];
}

/** Feeds bytes to a decoder, split at the given positions, up to a failure that it reports or throws. */
export function decode(decoder: Decoder, bytes: Uint8Array, cuts: readonly number[] = []): Decoded {
  const decoded: Decoded = { events: [], frames: [] };
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    collect(decoded, decoder.push(bytes.subarray(from, to)));
    if (decoder.failure) throw decoder.failure;
    from = to;
  }
  collect(decoded, decoder.end());
  return decoded;
}

function collect(into: Decoded, batch: Batch): void {
  for (const event of batch.events) into.events.push(event);
  for (const frame of batch.frames ?? []) into.frames.push(frame);
}

/** All events and frames of an opened stream. */
export async function readAll(answer: UpstreamAnswer): Promise<Decoded> {
  const decoded: Decoded = { events: [], frames: [] };
  if (answer.kind !== 'stream') throw new Error('not a stream');
  for await (const batch of answer.batches) collect(decoded, batch);
  return decoded;
}

/** The text, thoughts and calls in the events, and how they ended. */
export function summary(events: readonly InferenceEvent[]) {
  let text = '';
  let thoughts = '';
  let refusal = '';
  const calls = new Map<number, { callId: string; name: string; arguments: string }>();
  const done: number[] = [];
  let tokens: unknown;
  let finish: string | undefined;
  for (const event of events) {
    if (event.type === 'text') text += event.delta;
    else if (event.type === 'reasoning') thoughts += event.delta;
    else if (event.type === 'refusal') refusal += event.delta;
    else if (event.type === 'item-started' && event.item.kind === 'function_call') {
      calls.set(event.index, { callId: event.item.callId, name: event.item.name, arguments: '' });
    } else if (event.type === 'arguments') {
      const call = calls.get(event.index);
      if (!call) throw new Error(`arguments of a call that was not started: ${event.index}`);
      call.arguments += event.delta;
    } else if (event.type === 'item-done') done.push(event.index);
    else if (event.type === 'usage') tokens = event.tokens;
    else if (event.type === 'finished') finish = event.reason;
  }
  return { text, thoughts, refusal, calls: [...calls.values()], done, tokens, finish };
}

/** Encodes objects as an event stream. */
export function sse(...data: (Json | string)[]): Buffer {
  return Buffer.from(
    data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
  );
}

/** A chunk of the chat format. */
export function chunkOf(
  delta: Json,
  more: { finish?: string; index?: number; logprobs?: Json; chunk?: Json } = {},
): Json {
  const { finish = null, index = 0, logprobs, chunk } = more;
  const choice = { index, delta, finish_reason: finish, ...(logprobs && { logprobs }) };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [choice],
    ...chunk,
  };
}
