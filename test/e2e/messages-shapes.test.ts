import { describe, expect, test } from 'vitest';
import { checkMessage, checkMessageStream } from '../support/messages-check.ts';
import { backendsForThisFile, providerNames, type ScriptedReply } from '../support/model-backends.ts';
import { postForChunks } from '../support/raw-chunks.ts';

type Json = Record<string, unknown>;

/** Shapes of conversations. The fakes of the providers refuse what the real ones refuse. */
const backends = await backendsForThisFile();
const { daemon } = backends;

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } };
const pdf = {
  type: 'document',
  title: 'Report',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
};
const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const text = (said: string) => ({ type: 'text', text: said });
const use = (id: string, city: string) => ({ type: 'tool_use', id, name: 'weather', input: { city } });
const result = (id: string, content: unknown, more: Json = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
const calls = { calls: [{ name: 'weather', input: { city: 'Oslo' } }] };
const rain: ScriptedReply = { text: 'It rains.' };

interface Shape {
  name: string;
  body: Json;
  reply?: ScriptedReply;
  stop?: string;
}

const shapes: Shape[] = [
  { name: 'one question', body: { messages: [{ role: 'user', content: 'Hi.' }] } },
  {
    name: 'a system prompt in blocks, and several turns',
    body: {
      system: [text('Be brief.'), { ...text('Be kind.'), cache_control: { type: 'ephemeral' } }],
      messages: [user(text('Hi.')), assistant(text('Hello.')), user(text('How are you?'))],
    },
  },
  {
    name: 'two messages of one role',
    body: { messages: [user(text('First.')), user(text('Second.'))] },
  },
  {
    name: 'a forced tool',
    body: {
      messages: [user(text('Oslo?'))],
      tools: [weather],
      tool_choice: { type: 'tool', name: 'weather' },
    },
    reply: calls,
    stop: 'tool_use',
  },
  {
    name: 'any tool, one at a time',
    body: {
      messages: [user(text('Oslo?'))],
      tools: [weather],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
    reply: calls,
    stop: 'tool_use',
  },
  {
    name: 'tools that must not be used',
    body: { messages: [user(text('Oslo?'))], tools: [weather], tool_choice: { type: 'none' } },
  },
  {
    name: 'text, parallel calls, results and more text',
    body: {
      tools: [weather],
      messages: [
        user(text('Oslo and Rome?')),
        assistant(text('I look.'), use('toolu_1', 'Oslo'), use('toolu_2', 'Rome')),
        user(result('toolu_1', 'rain'), result('toolu_2', [text('sun')]), text('Sum up.')),
      ],
    },
  },
  {
    name: 'a result that is an error, and one without content',
    body: {
      tools: [weather],
      messages: [
        user(text('Oslo and Rome?')),
        assistant(use('toolu_1', 'Oslo'), use('toolu_2', 'Rome')),
        user(result('toolu_1', 'No such city.', { is_error: true }), {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
        }),
      ],
    },
  },
  {
    name: 'a result with an image',
    body: {
      tools: [weather],
      messages: [
        user(text('Oslo?')),
        assistant(use('toolu_1', 'Oslo')),
        user(result('toolu_1', [text('A map:'), image])),
      ],
    },
  },
  { name: 'images and documents', body: { messages: [user(image, pdf, text('What is this?'))] } },
  {
    name: 'an answer in a schema',
    body: {
      messages: [user(text('Which city?'))],
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      },
    },
    reply: { text: '{"city":"Oslo"}' },
  },
  {
    name: 'thinking, after an answer of several calls',
    body: {
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 4096,
      messages: [user(text('Hi.')), assistant(text('Hello.')), user(text('Think.'))],
    },
    reply: { reasoning: 'Let me see.', text: 'Done.' },
  },
];

describe.each(providerNames)('%s', (backend) => {
  test.each(shapes)('answers $name', async ({ body, reply = rain, stop = 'end_turn' }) => {
    const model = backends.script(backend, reply, reply);
    const json = { model, max_tokens: 1024, ...body };
    const whole = await daemon.fetch('/v1/messages', { json });
    const message = await whole.json();
    expect(whole.status, JSON.stringify(message)).toBe(200);
    const streamed = await postForChunks(`${daemon.url}/v1/messages`, {
      headers: { 'x-api-key': daemon.key },
      json: { ...json, stream: true },
    });
    for (const outcome of [checkMessage(message), checkMessageStream(streamed.chunks)]) {
      expect(outcome.stop).toBe(stop);
      expect(outcome.text).toBe(reply.text ?? '');
      expect(outcome.calls.map(({ name, input }) => ({ name, input }))).toEqual(reply.calls ?? []);
    }
    const sent = backends.bodiesOf(backend);
    expect(sent).toHaveLength(2);
  });
});

test.each([true, false])('a call never has the id of an earlier one, streamed: %s', async (stream) => {
  // This fake numbers the calls of each answer from 0.
  const model = backends.script('chat-only', calls, calls);
  const prompt = { model, max_tokens: 1024, tools: [weather] };
  const ask = async (messages: unknown[]) => {
    const { chunks } = await postForChunks(`${daemon.url}/v1/messages`, {
      headers: { 'x-api-key': daemon.key },
      json: { ...prompt, messages, stream },
    });
    return stream ? checkMessageStream(chunks) : checkMessage(JSON.parse(chunks.join('')));
  };
  const question = user(text('Oslo?'));
  const first = await ask([question]);
  const [call] = first.calls;
  const second = await ask([question, assistant(...first.content), user(result(call?.id ?? '', 'rain'))]);
  expect(second.calls).toMatchObject([{ name: 'weather', input: { city: 'Oslo' } }]);
  expect(second.calls[0]?.id).not.toContain(call?.id);
});
