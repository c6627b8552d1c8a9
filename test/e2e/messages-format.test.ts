import { describe, expect, test } from 'vitest';
import type { Backend } from '../support/backends/backend.ts';
import {
  checkMessage,
  checkMessageStream,
  type MessageOutcome,
  messageEvents,
} from '../support/messages-check.ts';
import {
  backendNames,
  backend as backendOf,
  backendsForThisFile,
  bothCalls,
  type ScriptedReply,
} from '../support/model-backends.ts';
import { postForChunks } from '../support/raw-chunks.ts';

const backends = await backendsForThisFile();

const tool = (name: string) => ({
  name,
  description: `Tells the ${name}.`,
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
});
const says = (content: string) => ({ max_tokens: 1024, messages: [{ role: 'user', content }] });
const tools = [tool('weather'), tool('clock')];
const thinking = { type: 'enabled', budget_tokens: 1024 };

interface Case {
  name: string;
  reply: ScriptedReply;
  body: Record<string, unknown>;
  outcome: Partial<Record<keyof MessageOutcome, unknown>>;
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
    outcome: { text: some, thinking: '', sealed: [], calls: [], stop: 'end_turn' },
  },
  {
    name: 'text with thoughts that were not asked for',
    reply: { reasoning: 'The user is to be greeted.', text: 'Hello!' },
    body: says('Say hello.'),
    outcome: { text: some, stop: 'end_turn', content: [expect.objectContaining({ type: 'text' })] },
    from: ({ relays }) => !relays.includes('messages'),
  },
  {
    name: 'parallel tool calls',
    reply: bothCalls,
    body: { ...says('Use both tools, weather and clock, in parallel.'), tools },
    outcome: {
      text: '',
      stop: 'tool_use',
      calls: [expect.objectContaining({ name: 'weather' }), expect.objectContaining({ name: 'clock' })],
    },
  },
  {
    name: 'parallel tool calls whose pieces mingle',
    reply: { ...bothCalls, interleaved: true },
    body: { ...says('Use both tools, weather and clock, in parallel.'), tools },
    outcome: {
      stop: 'tool_use',
      calls: bothCalls.calls.map((call) => expect.objectContaining(call)),
    },
    from: isScripted,
  },
  {
    name: 'a tool call without arguments',
    reply: { calls: [{ name: 'now' }] },
    body: { ...says('Use now.'), tools: [{ name: 'now', input_schema: { type: 'object' } }] },
    outcome: { stop: 'tool_use', calls: [expect.objectContaining({ name: 'now', input: {} })] },
  },
  {
    name: 'text before a tool call',
    reply: { text: 'I shall look.', calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
    body: { ...says('Use weather.'), tools },
    outcome: { text: 'I shall look.', stop: 'tool_use' },
    from: isScripted,
  },
  {
    name: 'thoughts and text',
    reply: { reasoning: 'The user is to be greeted.', text: 'Hello!' },
    body: { ...says('Say hello.'), max_tokens: 2048, thinking },
    outcome: { text: some, thinking: some, sealed: expect.arrayContaining([some]), stop: 'end_turn' },
  },
  {
    name: 'a refusal',
    reply: { refusal: 'I would rather not.' },
    body: says('Do something bad.'),
    outcome: { stop: 'refusal' },
    from: isScripted,
  },
  {
    name: 'text that was cut at the limit',
    reply: { text: 'It all began when the', finish: 'length' },
    body: { ...says('Write 300 words.'), max_tokens: 16 },
    outcome: { text: some, stop: 'max_tokens' },
  },
];

async function stream(body: Record<string, unknown>) {
  const { daemon } = backends;
  const answer = await postForChunks(`${daemon.url}/v1/messages`, {
    headers: { 'x-api-key': daemon.key, 'anthropic-version': '2023-06-01' },
    json: { ...body, stream: true },
  });
  expect(answer.status, answer.chunks.join('')).toBe(200);
  return answer.chunks;
}

describe.each(backendNames)('an answer from %s', (backend) => {
  const possible = cases.filter(({ from }) => from?.(backendOf(backend)) ?? true);

  test.each(possible)('follows the format as a stream: $name', async ({ reply, body, outcome }) => {
    const model = backends.script(backend, reply);
    expect(checkMessageStream(await stream({ ...body, model }))).toMatchObject(outcome);
  });

  test.each(possible)('follows the format as JSON: $name', async ({ reply, body, outcome }) => {
    const model = backends.script(backend, reply);
    const answer = await backends.daemon.fetch('/v1/messages', { json: { ...body, model } });
    const json = await answer.json();
    expect(answer.status, JSON.stringify(json)).toBe(200);
    expect(checkMessage(json)).toMatchObject(outcome);
  });

  test('is cut when its provider ignores the limit', async () => {
    const endless = { text: 'On and on it went. '.repeat(300), breaks: 'stall', breaksAfter: 400 } as const;
    const model = backend === 'simulator' ? backends.script(backend) : backends.script(backend, endless);
    const chunks = await stream({ ...says('Write 3000 words.'), model, max_tokens: 16 });
    expect(checkMessageStream(chunks).stop).toBe('max_tokens');
  });

  test('to a client that only tries whether the model is there', async () => {
    const model = backends.script(backend, { text: 'Hi', finish: 'length' });
    const answer = await backends.daemon.fetch('/v1/messages', {
      json: { ...says('test'), model, max_tokens: 1 },
    });
    const json = await answer.json();
    expect(answer.status, JSON.stringify(json)).toBe(200);
    expect(checkMessage(json).stop).toBe('max_tokens');
  });

  test.each(['cut', 'error'] as const)('reports a failure after the start: %s', async (breaks) => {
    const model = backends.script(backend, { text: 'It all began when the moon was new and', breaks });
    const events = messageEvents(await stream({ ...says('Go on.'), model }));
    const isOverloaded = breaks === 'error' && backend === 'anthropic';
    expect(events.pop()).toMatchObject({
      type: 'error',
      error: { type: isOverloaded ? 'overloaded_error' : 'api_error', message: some },
    });
    expect(events[0]?.type).toBe('message_start');
    expect(events.every(({ type }) => type !== 'message_delta' && type !== 'error')).toBe(true);
  });
});
