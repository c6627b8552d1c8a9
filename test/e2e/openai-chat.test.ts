import type OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  askBoth,
  backendNames,
  backendsForThisFile,
  bothCalls,
  openAiAs,
} from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const client = openAiAs(backends.daemon);

const City = z.object({ city: z.string() });
const tools: ChatCompletionTool[] = ['weather', 'clock'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}));
const says = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }];
const askedBoth = says(askBoth);
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.each(backendNames)('the openai package, chat, answered by %s', (backend) => {
  test('gets text', async () => {
    const model = backends.script(backend, { text: 'Good morning!' });
    const { choices, usage } = await client.chat.completions.create({
      model,
      messages: says('Good morning!'),
    });
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('Good morning!') },
    });
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  test('gets one id, the model that answered and the cost, whole and streamed', async () => {
    const model = backends.script(backend, { text: 'Good morning!' });
    const call = { model, messages: says('Good morning!') };
    const since = Math.floor(Date.now() / 1000);
    const { data, response } = await client.chat.completions.create(call).withResponse();
    const stream = await client.chat.completions.create({
      ...call,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    for (const { id, created, model: answered } of [data, ...chunks]) {
      expect(id).toMatch(/^chatcmpl-[0-9a-z]{26}$/);
      expect(created).toBeGreaterThanOrEqual(since);
      expect(answered).toBe(response.headers.get('x-service-model'));
    }
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    for (const usage of [data.usage, chunks.at(-1)?.usage]) expect(usage).toHaveProperty('cost_usd');
  });

  test('gets a stream whose deltas are the text', async () => {
    const model = backends.script(backend, { text: 'Good morning to all of you!' });
    const stream = await client.chat.completions.create({
      model,
      messages: says('Good morning to all of you!'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage;
    }
    expect(text).toContain('Good morning to all of you!');
    expect(usage).toMatchObject({ total_tokens: expect.any(Number), cost_usd: expect.any(String) });
  });

  test('runs streamed parallel tools to the end', async () => {
    const model = backends.script(backend, { reasoning: 'Both.', ...bothCalls }, { text: 'Rain and noon.' });
    const stream = client.chat.completions.stream({
      model,
      messages: askedBoth,
      tools,
      reasoning_effort: 'low',
    });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] ?? {};
    expect(finish_reason).toBe('tool_calls');
    const calls = message?.tool_calls?.filter((call) => call.type === 'function') ?? [];
    expect(calls.map((call) => call.function.name)).toEqual(['weather', 'clock']);
    for (const call of calls) City.parse(JSON.parse(call.function.arguments));

    const { choices } = await client.chat.completions.create({
      model,
      tools,
      messages: [
        ...askedBoth,
        message as ChatCompletionMessageParam,
        ...calls.map(({ id, function: { name } }): ChatCompletionMessageParam => {
          return { role: 'tool', tool_call_id: id, content: name === 'weather' ? 'rain' : 'noon' };
        }),
      ],
    });
    expect(choices[0]?.message.content).toMatch(/rain[\s\S]*noon/i);
  });

  test('lets its helper run the tools', async () => {
    const model = backends.script(backend, bothCalls, { text: 'Rain and noon.' });
    const asked: string[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages: askedBoth,
      stream: true,
      tools: ['weather', 'clock'].map((name) =>
        zodFunction({
          name,
          parameters: City,
          function: ({ city }) => {
            asked.push(`${name} of ${city}`);
            return name === 'weather' ? 'rain' : 'noon';
          },
        }),
      ),
    });
    expect(await runner.finalContent()).toMatch(/rain[\s\S]*noon/i);
    expect(asked).toHaveLength(2);
  });

  test('parses structured output', async () => {
    const model = backends.script(backend, { text: '{"city":"Oslo"}' });
    const { choices } = await client.chat.completions.parse({
      model,
      messages: says('Which city?'),
      response_format: zodResponseFormat(City, 'city'),
    });
    expect(choices[0]?.message.parsed?.city).toEqual(expect.any(String));
  });

  test('sends images', async () => {
    const model = backends.script(backend, { text: 'I received 1 image: a pixel.' });
    const { choices } = await client.chat.completions.create({
      model,
      messages: [
        { role: 'system', content: 'You see.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: pixel } },
          ],
        },
      ],
    });
    expect(choices[0]?.message.content).toContain('1 image');
    if (backend !== 'simulator')
      expect(JSON.stringify(backends.lastBody(backend))).toContain(pixel.slice(22));
  });
});
