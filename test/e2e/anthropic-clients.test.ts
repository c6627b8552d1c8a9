import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askBoth, backendNames, backendsForThisFile, bothCalls } from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const { url, key } = backends.daemon;
const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: key });

const City = z.object({ city: z.string() });
const tools = (['weather', 'clock'] as const).map((name) => ({
  name,
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
}));
const hello = { max_tokens: 2048, messages: [{ role: 'user' as const, content: 'Say: Good morning!' }] };

describe.each(backendNames)("Anthropic's SDK, answered by %s", (backend) => {
  test('creates a message', async () => {
    const model = backends.script(backend, { text: 'Good morning!' });
    const { data, request_id } = await client.messages.create({ model, ...hello }).withResponse();
    expect(request_id).toMatch(/^req_/);
    expect(data).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(data.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Good morning!') });
    expect(data.usage.output_tokens).toBeGreaterThan(0);
  });

  test('streams a message with thoughts', async () => {
    const model = backends.script(backend, { reasoning: 'Be polite.', text: 'Good morning!' });
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
    const stream = client.messages.stream({ model, ...hello, thinking });
    const said: string[] = [];
    const thoughts: string[] = [];
    stream.on('text', (delta) => said.push(delta)).on('thinking', (delta) => thoughts.push(delta));
    const message = await stream.finalMessage();
    expect(said.join('')).toContain('Good morning!');
    expect(thoughts.join('')).not.toBe('');
    const blocks = message.content.filter(({ type }) => type !== 'redacted_thinking');
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(message.stop_reason).toBe('end_turn');
  });

  test('streams parallel tool calls, and sends their results', async () => {
    const model = backends.script(backend, bothCalls, { text: 'Rain and noon.' });
    const question = { role: 'user' as const, content: askBoth };
    const first = await client.messages
      .stream({ model, max_tokens: 1024, tools, messages: [question] })
      .finalMessage();
    const calls = first.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ name }) => name)).toEqual(['weather', 'clock']);
    const results = calls.map(({ id, name }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: [{ type: 'text' as const, text: name === 'weather' ? 'rain' : 'noon' }],
    }));
    const second = await client.messages.create({
      model,
      max_tokens: 1024,
      tools,
      messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
    });
    expect(second.content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toMatch(
      /rain[\s\S]*noon/i,
    );
  });

  test('runs tools by its tool runner', async () => {
    const model = backends.script(backend, bothCalls, { text: 'Rain and noon.' });
    const asked: string[] = [];
    const runnable = (name: string, result: string) =>
      betaZodTool({
        name,
        description: `Tells the ${name}.`,
        inputSchema: City,
        run: ({ city }) => {
          asked.push(`${name} of ${city}`);
          return result;
        },
      });
    const message = await client.beta.messages.toolRunner({
      model,
      max_tokens: 1024,
      messages: [{ role: 'user', content: askBoth }],
      tools: [runnable('weather', 'rain'), runnable('clock', 'noon')],
    });
    expect(asked).toHaveLength(2);
    expect(message.stop_reason).toBe('end_turn');
  });

  test('counts tokens', async () => {
    const model = backends.script(backend);
    const { input_tokens } = await client.messages.countTokens({ model, messages: hello.messages });
    expect(input_tokens).toBeGreaterThan(0);
  });

  test('throws for a failure after the start', async () => {
    const model = backends.script(backend, { text: 'It all began when the moon was new', breaks: 'error' });
    const stream = client.messages.stream({ model, ...hello });
    await expect(stream.finalMessage()).rejects.toThrow();
  });
});

describe.each(backendNames)('the AI SDK with Anthropic, answered by %s', (backend) => {
  const settings = { maxOutputTokens: 2048 };

  test('generates text', async () => {
    const { text, usage, finishReason, warnings } = await generateText({
      model: anthropic(backends.script(backend, { text: 'Good morning!' })),
      prompt: 'Say: Good morning!',
      ...settings,
    });
    expect(text).toContain('Good morning!');
    expect(finishReason).toBe('stop');
    expect(usage.totalTokens).toBeGreaterThan(0);
    expect(warnings ?? []).toEqual([]);
  });

  test('runs streamed parallel tools in several steps', async () => {
    const asked: string[] = [];
    const made = (name: string, result: string) =>
      tool({
        description: `Tells the ${name}.`,
        inputSchema: City,
        execute: async ({ city }) => {
          asked.push(`${name} of ${city}`);
          return result;
        },
      });
    const result = streamText({
      model: anthropic(
        backends.script(backend, { reasoning: 'Both.', ...bothCalls }, { text: 'Rain and noon.' }),
      ),
      prompt: askBoth,
      tools: { weather: made('weather', 'rain'), clock: made('clock', 'noon') },
      stopWhen: isStepCount(3),
      ...settings,
    });
    const types: string[] = [];
    for await (const part of result.fullStream) types.push(part.type);
    expect(types).not.toContain('error');
    expect(asked).toHaveLength(2);
    expect(await result.text).toMatch(/rain[\s\S]*noon/i);
  });
});

test("errors are of the SDK's classes", async () => {
  const { NotFoundError, AuthenticationError, BadRequestError } = Anthropic;
  await expect(client.messages.create({ model: 'none/such', ...hello })).rejects.toBeInstanceOf(
    NotFoundError,
  );
  const stranger = new Anthropic({ baseURL: url, apiKey: 'sk-ant-none', maxRetries: 0 });
  await expect(stranger.messages.create({ model: 'sim/echo', ...hello })).rejects.toBeInstanceOf(
    AuthenticationError,
  );
  const failure = client.messages.create({ model: 'sim/echo', ...hello, temperature: 3 } as never);
  await expect(failure).rejects.toBeInstanceOf(BadRequestError);
  await expect(failure).rejects.toMatchObject({
    type: 'invalid_request_error',
    errorCode: 'invalid_request',
  });
});

test('models are listed over all pages', async () => {
  const ids: string[] = [];
  for await (const { id, type } of client.models.list({ limit: 5 })) {
    expect(type).toBe('model');
    ids.push(id);
  }
  expect(ids).toContain('sim/assistant');
  expect(new Set(ids).size).toBe(ids.length);
  expect(await client.models.retrieve('sim/assistant')).toMatchObject({ id: 'sim/assistant', type: 'model' });
});
