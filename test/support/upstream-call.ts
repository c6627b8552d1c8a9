import type { Inference, InferenceEvent } from '../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../src/daemon/features/upstreams/upstream.ts';
import type { Adapter, Decoder } from '../../src/daemon/upstream/adapter.ts';
import { inferenceOf } from './inference.ts';

/** A call with the input Hello, and the test's changes. */
export function upstreamCall(
  model: string,
  inference: Partial<Inference> = {},
  call: Partial<UpstreamCall> = {},
): UpstreamCall {
  return {
    inference: inferenceOf({ model, ...inference }),
    model,
    wire: undefined,
    key: 'key-for-tests',
    outputTokensMax: undefined,
    ...call,
  };
}

type Item = Inference['items'][number];

export function assistant(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'text', text }] };
}

export function called(callId: string, name: string, args = '{}'): Item {
  return { type: 'function_call', callId, name, arguments: args };
}

export function answered(callId: string, text: string): Item {
  return { type: 'function_call_output', callId, output: [{ type: 'text', text }] };
}

export function functionTool(
  name: string,
  parameters?: Record<string, unknown>,
  strict?: boolean,
): Inference['tools'][number] {
  return { type: 'function', name, description: `Does ${name}.`, parameters, strict };
}

/** Sends a call over a real socket and reads the whole answer. Throws what the adapter makes of a failure. */
export async function askProvider(adapter: Adapter, call: UpstreamCall): Promise<InferenceEvent[]> {
  const { url, headers, body } = adapter.request(call);
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok) {
    throw adapter.failure(response.status, Object.fromEntries(response.headers), await response.text());
  }
  const decoder = adapter.decoder(call);
  const events: InferenceEvent[] = [];
  for await (const bytes of response.body ?? []) {
    events.push(...decoder.push(bytes).events);
    if (decoder.failure) throw decoder.failure;
  }
  if (!decoder.isComplete) events.push(...decoder.end().events);
  return events;
}

/** All events of some bytes, cut at the given places. */
export function decode(decoder: Decoder, bytes: Uint8Array, cuts: readonly number[] = []): InferenceEvent[] {
  const events: InferenceEvent[] = [];
  const places = [...new Set(cuts)].sort((one, other) => one - other);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    events.push(...decoder.push(bytes.subarray(from, to)).events);
    if (decoder.failure) throw decoder.failure;
    from = to;
  }
  if (!decoder.isComplete) events.push(...decoder.end().events);
  return events;
}

/** What a decoded answer comes to: its items put together, its usage and how it ended. */
export function summarize(events: readonly InferenceEvent[]) {
  const items: Record<string, unknown>[] = [];
  const done = new Set<number>();
  const outcome: { items: typeof items; usage?: unknown; finish?: string } = { items };
  const add = (index: number, field: string, delta: string) => {
    const item = items[index];
    if (!item || done.has(index)) throw new Error(`item ${index} is not open`);
    item[field] = `${item[field] ?? ''}${delta}`;
  };
  for (const event of events) {
    if (event.type === 'item-started') {
      if (event.index !== items.length) throw new Error('items must be numbered as they start');
      items.push({ ...event.item });
    } else if (event.type === 'item-done') {
      done.add(event.index);
      if (event.origin) Object.assign(items[event.index] ?? {}, { origin: event.origin });
    } else if (event.type === 'usage') outcome.usage = event.tokens;
    else if (event.type === 'finished') outcome.finish = event.reason;
    else if (event.type === 'annotation') throw new Error('no annotation was asked for');
    else if (event.type === 'prompt-counted') continue;
    else add(event.index, event.type, event.delta);
  }
  if (done.size !== items.length) throw new Error('every item must end');
  return outcome;
}

/** The items of a decoded answer, as a client sends them back. */
export function replay(events: InferenceEvent[]): Inference['items'] {
  return summarize(events).items.map((item): Inference['items'][number] => {
    if (item.kind === 'reasoning')
      return { type: 'reasoning', summary: [], origin: item.origin as undefined };
    if (item.kind === 'message') return assistant(String(item.text));
    return called(String(item.callId), String(item.name), String(item.arguments));
  });
}
