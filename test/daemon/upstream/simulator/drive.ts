import type {
  FinishReason,
  Inference,
  InferenceEvent,
  InputItem,
  ReasoningOrigin,
  Tool,
} from '../../../../src/daemon/features/upstreams/neutral.ts';
import type { Upstream } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { parseSimulatorScript } from '../../../../src/daemon/upstream/simulator/script/parse-script.ts';
import type { SimulatorScript } from '../../../../src/daemon/upstream/simulator/script/script-file.ts';
import { simulator } from '../../../../src/daemon/upstream/simulator/simulator.ts';
import type { Tokens } from '../../../../src/shared/money/money.ts';
import { inferenceOf } from '../../../support/inference.ts';

export type Ask = Partial<Inference> & { affordable?: number; signal?: AbortSignal };

export const said = (text: string): InputItem => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text }],
});

export const called = (name: string, callId = 'call_1'): InputItem => ({
  type: 'function_call',
  callId,
  name,
  arguments: '{}',
});

export const result = (text: string, callId = 'call_1'): InputItem => ({
  type: 'function_call_output',
  callId,
  output: [{ type: 'text', text }],
});

export const tool = (name: string, parameters?: Record<string, unknown>): Tool => ({
  type: 'function',
  name,
  description: undefined,
  parameters,
  strict: undefined,
});

/** Everything in an answer. */
export interface ReceivedAnswer {
  events: InferenceEvent[];
  batches: number;
  deltas: string[];
  text: string;
  refusal: string;
  summary: string[];
  origin: ReasoningOrigin | undefined;
  calls: { callId: string; name: string; arguments: string }[];
  tokens: Tokens | undefined;
  finish: FinishReason | undefined;
  /** The error that the stream threw after its events. */
  failure: unknown;
}

/** A simulator without delays and with sequential call ids. */
export function startSimulator(script?: SimulatorScript): Upstream {
  let calls = 0;
  return simulator({
    world: { elapsed: () => 0, sleep: () => Promise.reject(new Error('nothing here waits')) },
    makeCallId: () => {
      calls += 1;
      return `call_${calls}`;
    },
    script,
  });
}

export function scripted(yaml: string): Upstream {
  const parsed = parseSimulatorScript(yaml, 'test.yaml');
  if (!('script' in parsed)) throw new Error(JSON.stringify(parsed.faults));
  return startSimulator(parsed.script);
}

export async function openAnswer(upstream: Upstream, ask: Ask) {
  const { affordable, signal, ...rest } = ask;
  const inference = inferenceOf({ model: 'sim/assistant', items: [], ...rest });
  const answer = await upstream.open(
    { inference, model: inference.model, wire: undefined, key: undefined, outputTokensMax: affordable },
    signal ?? new AbortController().signal,
  );
  if (answer.kind !== 'stream') throw new Error('the simulator always streams');
  return answer.batches;
}

export async function getAnswer(upstream: Upstream, ask: Ask): Promise<ReceivedAnswer> {
  const received: ReceivedAnswer = {
    events: [],
    batches: 0,
    deltas: [],
    text: '',
    refusal: '',
    summary: [],
    origin: undefined,
    calls: [],
    tokens: undefined,
    finish: undefined,
    failure: undefined,
  };
  const batches = await openAnswer(upstream, ask);
  try {
    for await (const batch of batches) {
      received.batches += 1;
      for (const event of batch.events) note(received, event);
    }
  } catch (error) {
    received.failure = error;
  }
  return received;
}

function note(received: ReceivedAnswer, event: InferenceEvent): void {
  received.events.push(event);
  if (event.type === 'item-started' && event.item.kind === 'function_call') {
    received.calls.push({ callId: event.item.callId, name: event.item.name, arguments: '' });
  } else if (event.type === 'arguments') {
    const call = received.calls.at(-1);
    if (call) call.arguments += event.delta;
  } else if (event.type === 'text') {
    received.deltas.push(event.delta);
    received.text += event.delta;
  } else if (event.type === 'refusal') received.refusal += event.delta;
  else if (event.type === 'reasoning') {
    received.summary[event.part] = (received.summary[event.part] ?? '') + event.delta;
  } else if (event.type === 'item-done') received.origin = event.origin ?? received.origin;
  else if (event.type === 'usage') received.tokens = event.tokens;
  else if (event.type === 'finished') received.finish = event.reason;
}
