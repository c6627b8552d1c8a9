import { expect, test } from 'vitest';
import { createOutput } from '../../../../../../src/daemon/features/calls/output-items.ts';
import { ChatStream } from '../../../../../../src/daemon/features/inference/formats/chat-completions/stream.ts';

const frame = (json: Record<string, unknown>) => ({ raw: JSON.stringify(json), json });

test('the provider’s usage is passed on, except for the cost', () => {
  const output = createOutput(
    (prefix) => `${prefix}_1`,
    () => '',
  );
  const named = { id: 'chatcmpl-1', created: 1, model: 'm' };
  const stream = new ChatStream({ ...named, output, includeUsage: true, requestId: 'req_1' });
  const reported = {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    cost_usd: '9',
    audio_seconds: 4,
  };
  stream.batch({
    events: [],
    frames: [
      frame({ ...named, choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }),
      frame({ ...named, choices: [], usage: reported }),
    ],
  });
  const cost = { provider_usd: '0.001', margin_usd: '0.0001', total_usd: '0.0011' };
  const service = { model: 'm', provider: 'p', attempts: [], cost, charged_usd: '0.0011', own_key: false };
  const text = stream.finish({
    finish: 'stop',
    tokens: { input: 1, cachedInput: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    service,
    completedAt: 0,
  });
  const { usage } = JSON.parse(text.split('\n')[0]?.replace(/^data: /, '') ?? '');
  expect(usage).toMatchObject({ ...reported, cost_usd: '0.0011' });
});

test('the text of several choices that are passed on is counted once each', () => {
  const output = createOutput(
    (prefix) => `${prefix}_1`,
    () => '',
  );
  const named = { id: 'chatcmpl-1', created: 1, model: 'm' };
  const stream = new ChatStream({ ...named, output, includeUsage: false, requestId: 'req_1' });
  const choice = (index: number, content: string) => ({ index, delta: { content }, finish_reason: null });
  stream.batch({
    events: [
      { type: 'item-started', index: 0, item: { kind: 'message' } },
      { type: 'text', index: 0, delta: 'four' },
    ],
    frames: [frame({ ...named, choices: [choice(0, 'four'), choice(1, 'three')] })],
  });
  expect(output.characters()).toBe('four'.length + 'three'.length);
});

test('a provider’s chunks get our id, time and model, and keep the bytes of the rest', () => {
  const ours = { id: 'chatcmpl-ours', created: 7, model: 'maker/m' };
  const output = createOutput(
    (prefix) => `${prefix}_1`,
    () => '',
  );
  const stream = new ChatStream({ ...ours, output, includeUsage: false, requestId: 'req_1' });
  const pass = (raw: string) => stream.batch({ events: [], frames: [{ raw, json: JSON.parse(raw) }] });
  const head =
    '{"id":"theirs", "object":"chat.completion.chunk","created":1,"model":"m","x":"\\"choices\\":",';
  const rest =
    '"choices": [{"index":0, "delta":{"content":"1\\u00e9"},"finish_reason":null}], "big": 12345678901234567890}';
  const relabelled = `{"id":"chatcmpl-ours","object":"chat.completion.chunk","created":7,"model":"maker/m",`;
  const simple = head.replace('"x":"\\"choices\\":",', '');
  for (let time = 0; time < 2; time += 1) expect(pass(simple + rest)).toBe(`data: ${relabelled}${rest}\n\n`);
  // A changed head, members after the choices, and a name that only looks like one.
  expect(pass(simple.replace('theirs', 'another') + rest)).toBe(`data: ${relabelled}${rest}\n\n`);
  const late = '{"choices":[],"id":"theirs","created":1,"model":"m"}';
  expect(JSON.parse(pass(late).slice(6))).toEqual({ choices: [], ...ours });
  expect(JSON.parse(pass(head + rest).slice(6))).toMatchObject({ ...ours, x: '"choices":' });
});
