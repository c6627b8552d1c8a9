import { describe, expect, test } from 'vitest';
import {
  parseToolChoice,
  parseTools,
} from '../../../src/daemon/features/inference/formats/responses/parse.ts';
import type { Inference, InputItem } from '../../../src/daemon/features/upstreams/neutral.ts';
import { anthropicAdapter } from '../../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { readConversation } from '../../../src/daemon/upstream/simulator/conversation.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { callOf } from './upstream-fixture.ts';

const settings = { name: 'p', baseUrl: 'https://p.example/v1' };
const makeCallId = () => 'call_1';
const writers: [string, (inference: Inference) => unknown][] = [
  ['a chat provider', (inference) => chatAdapter(settings).request(callOf(inference))],
  ['a Responses provider', (inference) => responsesAdapter(settings).request(callOf(inference))],
  ['Anthropic', (inference) => anthropicAdapter(settings).request(callOf(inference))],
  ['Google', (inference) => googleAdapter(settings, { makeCallId }).request(callOf(inference))],
  ['the simulator', (inference) => readConversation(inference)],
];

const count = 40_000;
/** Ten times what linear time needs; quadratic time exceeds it. */
const cpuMsMax = 4_000;

const ask: InputItem = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Go.' }] };
const calls = (id: (index: number) => string): InputItem[] =>
  Array.from({ length: count }, (_, i) => ({
    type: 'function_call',
    callId: id(i),
    name: 'f',
    arguments: '{}',
  }));
const outputs = (id: (index: number) => string): InputItem[] =>
  Array.from({ length: count }, (_, i) => ({ type: 'function_call_output', callId: id(i), output: [] }));

const unique = (index: number) => `call_${index}`;
const same = () => 'call_0';
const [answer] = outputs(same) as [InputItem];
const histories: [string, InputItem[]][] = [
  ['parallel calls', [ask, ...calls(unique), ...outputs(unique)]],
  ['calls that all have one id', [ask, ...calls(same).flatMap((call) => [call, answer])]],
];

describe.each(writers)('for %s', (_name, write) => {
  test.each(histories)('%s take linear time', async (_what, items) => {
    const { inference } = callOf({ wire: 'responses', items });
    const cpuMs = await cpuMsOf(() => write({ ...inference, wire: 'responses' }));
    expect(cpuMs).toBeLessThan(cpuMsMax);
  });
});

/** More than a function accepts arguments. */
const partCount = 150_000;
const partsOf = (role: 'user' | 'assistant'): InputItem => ({
  type: 'message',
  role,
  content: Array.from({ length: partCount }, () => ({ type: 'text', text: '.' })),
});

test.each(writers)('messages with very many parts are written for %s', (_name, write) => {
  const { inference } = callOf({
    wire: 'responses',
    items: [ask, partsOf('user'), partsOf('assistant'), partsOf('assistant'), ask],
  });
  expect(() => write({ ...inference, wire: 'responses' })).not.toThrow();
});

test('takes linear time to read a choice among very many tools', async () => {
  const named = Array.from({ length: count }, (_, index) => ({ type: 'function', name: `f${index}` }));
  const read = () => {
    const choice = parseToolChoice({ type: 'allowed_tools', mode: 'auto', tools: named }, parseTools(named));
    expect(choice).toMatchObject({ mode: 'allowed', names: { length: count } });
  };
  expect(await cpuMsOf(read)).toBeLessThan(cpuMsMax);
});
