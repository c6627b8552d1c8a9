import { describe, expect, test } from 'vitest';
import type { Backend } from '../support/backends/backend.ts';
import { type ChatOutcome, checkChat, checkChatStream, dataIn } from '../support/chat-check.ts';
import {
  backendNames,
  backend as backendOf,
  backendsForThisFile,
  type ScriptedReply,
} from '../support/model-backends.ts';
import { postForChunks } from '../support/raw-chunks.ts';

const backends = await backendsForThisFile();

const tool = (name: string) => ({
  type: 'function',
  function: {
    name,
    description: `Tells the ${name}.`,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
});
const says = (content: string) => ({ messages: [{ role: 'user', content }] });
const tools = [tool('weather'), tool('clock')];

interface Case {
  name: string;
  reply: ScriptedReply;
  body: Record<string, unknown>;
  outcome: Partial<Record<keyof ChatOutcome, unknown>>;
  /** By default all: a provider's format may be unable to express it. */
  from?: (backend: Backend) => boolean;
}

const some = expect.stringMatching(/./);
/** The simulator answers by rules of its own. */
const isScripted = (backend: Backend) => backend !== backendOf('simulator');

const cases: Case[] = [
  {
    name: 'text',
    reply: { text: 'Hello there, and good morning to you!' },
    body: says('Say hello.'),
    outcome: { content: some, finish: 'stop', calls: [] },
  },
  {
    name: 'parallel tool calls',
    reply: {
      calls: [
        { name: 'weather', input: { city: 'Oslo' } },
        { name: 'clock', input: { city: 'Rome' } },
      ],
    },
    body: { ...says('Use both tools, weather and clock, in parallel.'), tools },
    outcome: {
      content: '',
      finish: 'tool_calls',
      calls: [expect.objectContaining({ name: 'weather' }), expect.objectContaining({ name: 'clock' })],
    },
  },
  {
    name: 'parallel tool calls whose pieces mingle',
    reply: {
      calls: [
        { name: 'weather', input: { city: 'Oslo' } },
        { name: 'clock', input: { city: 'Rome' } },
      ],
      interleaved: true,
    },
    body: { ...says('Use both tools, weather and clock, in parallel.'), tools },
    outcome: {
      finish: 'tool_calls',
      calls: [
        expect.objectContaining({ name: 'weather', arguments: '{"city":"Oslo"}' }),
        expect.objectContaining({ name: 'clock', arguments: '{"city":"Rome"}' }),
      ],
    },
    from: isScripted,
  },
  {
    name: 'a tool call without arguments',
    reply: { calls: [{ name: 'now' }] },
    body: { ...says('Use now.'), tools: [{ type: 'function', function: { name: 'now' } }] },
    outcome: { finish: 'tool_calls', calls: [expect.objectContaining({ name: 'now', arguments: '{}' })] },
  },
  {
    name: 'text before a tool call',
    reply: { text: 'I shall look.', calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
    body: { ...says('Use weather.'), tools },
    outcome: { content: 'I shall look.', finish: 'tool_calls' },
    from: isScripted,
  },
  {
    name: 'reasoning and text',
    reply: { reasoning: 'The user is to be greeted.', text: 'Hello!' },
    body: { ...says('Say hello.'), reasoning_effort: 'low' },
    outcome: { content: some, reasoning: some, finish: 'stop' },
  },
  {
    name: 'a refusal',
    reply: { refusal: 'I would rather not.' },
    body: says('Do something bad.'),
    outcome: { refusal: some, finish: 'stop' },
    from: ({ refusal }) => refusal === 'message',
  },
  {
    name: 'a refusal that ends the answer',
    reply: { refusal: 'I would rather not.' },
    body: says('Do something bad.'),
    outcome: { finish: 'content_filter' },
    from: ({ refusal }) => refusal !== 'message',
  },
  {
    name: 'text that was cut at the limit',
    reply: { text: 'It all began when the', finish: 'length' },
    body: { ...says('Write 300 words.'), max_completion_tokens: 16 },
    outcome: { content: some, finish: 'length' },
  },
  {
    name: 'text that a filter stopped',
    reply: { text: 'It all began when', finish: 'content_filter' },
    body: says('Go on.'),
    outcome: { content: some, finish: 'content_filter' },
  },
];

async function stream(body: Record<string, unknown>) {
  const { daemon } = backends;
  const answer = await postForChunks(`${daemon.url}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${daemon.key}` },
    json: { ...body, stream: true },
  });
  expect(answer.status, answer.chunks.join('')).toBe(200);
  return answer.chunks;
}

describe.each(backendNames)('an answer from %s', (backend) => {
  const possible = cases.filter(({ from }) => from?.(backendOf(backend)) ?? true);

  test.each(possible)('follows the format as a stream: $name', async ({ reply, body, outcome }) => {
    for (const includesUsage of [true, false]) {
      const model = backends.script(backend, reply);
      const options = includesUsage ? { stream_options: { include_usage: true } } : {};
      const chunks = await stream({ ...body, ...options, model });
      expect(checkChatStream(chunks, { includesUsage })).toMatchObject(outcome);
    }
  });

  test.each(possible)('follows the format as JSON: $name', async ({ reply, body, outcome }) => {
    const model = backends.script(backend, reply);
    const answer = await backends.daemon.fetch('/v1/chat/completions', { json: { ...body, model } });
    expect(answer.status).toBe(200);
    expect(checkChat(await answer.json())).toMatchObject(outcome);
  });

  test('is cut when its provider ignores the limit', async () => {
    const endless = { text: 'On and on it went. '.repeat(300), breaks: 'stall', breaksAfter: 400 } as const;
    const model = backend === 'simulator' ? backends.script(backend) : backends.script(backend, endless);
    const body = { ...says('Write 3000 words.'), stream_options: { include_usage: true } };
    const chunks = await stream({ ...body, model, max_completion_tokens: 16 });
    expect(checkChatStream(chunks, { includesUsage: true }).finish).toBe('length');
  });

  test.each(['cut', 'error'] as const)('reports a failure after the start: %s', async (breaks) => {
    const model = backends.script(backend, { text: 'It all began when the moon was new and', breaks });
    const data = dataIn(await stream({ ...says('Go on.'), model })).map((each) => JSON.parse(each));
    const last = data.pop();
    const code = breaks === 'cut' ? 'upstream_failed' : backendOf(backend).brokenCode;
    expect(last.error).toMatchObject({ type: 'upstream_failed', code, param: null });
    expect(last.error.message).toEqual(some);
    expect(data.length).toBeGreaterThan(0);
    expect(data.every((chunk) => chunk.choices[0].finish_reason === null)).toBe(true);
  });
});
