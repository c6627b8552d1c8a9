import { createOpenAI } from '@ai-sdk/openai';
import {
  APICallError,
  generateText,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  askBoth,
  type BackendName,
  type Backends,
  backendNames,
  backendsForThisFile,
  bothCalls,
} from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const { url, key } = backends.daemon;
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key });

const City = z.object({ city: z.string() });
const weatherAndClock = () => {
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
  return { asked, tools: { weather: made('weather', 'rain'), clock: made('clock', 'noon') } };
};
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const formats = ['responses', 'chat'] as const;
const formatsByPlace = backendNames.flatMap((backend) => formats.map((format) => ({ backend, format })));
const modelOf = (format: (typeof formats)[number], id: string): LanguageModel =>
  format === 'chat' ? openai.chat(id) : openai(id);

describe.each(formatsByPlace)('the AI SDK, $format, answered by $backend', ({ backend, format }) => {
  const say = (...replies: Parameters<Backends['script']> extends [BackendName, ...infer S] ? S : never) =>
    modelOf(format, backends.script(backend, ...replies));

  test('generates text', async () => {
    const { text, usage, finishReason, warnings } = await generateText({
      model: say({ text: 'Good morning!' }),
      prompt: 'Say: Good morning!',
    });
    expect(text).toContain('Good morning!');
    expect(finishReason).toBe('stop');
    expect(usage.totalTokens).toBeGreaterThan(0);
    expect(warnings ?? []).toEqual([]);
  });

  test('streams text', async () => {
    const { textStream, finishReason, usage } = streamText({
      model: say({ text: 'Good morning to all of you!' }),
      prompt: 'Say: Good morning to all of you!',
    });
    let text = '';
    for await (const delta of textStream) text += delta;
    expect(text).toContain('Good morning to all of you!');
    expect(await finishReason).toBe('stop');
    expect((await usage).outputTokens).toBeGreaterThan(0);
  });

  test('runs parallel tools in several steps', async () => {
    const { asked, tools } = weatherAndClock();
    const { text, steps } = await generateText({
      model: say({ reasoning: 'Both.', ...bothCalls }, { text: 'Rain and noon.' }),
      prompt: askBoth,
      tools,
      stopWhen: isStepCount(3),
    });
    expect(asked).toHaveLength(2);
    expect(steps).toHaveLength(2);
    expect(text).toMatch(/rain[\s\S]*noon/i);
  });

  test('runs streamed parallel tools in several steps', async () => {
    const { asked, tools } = weatherAndClock();
    const result = streamText({
      model: say({ reasoning: 'Both.', ...bothCalls }, { text: 'Rain and noon.' }),
      prompt: askBoth,
      tools,
      stopWhen: isStepCount(3),
    });
    const types: string[] = [];
    for await (const part of result.fullStream) types.push(part.type);
    expect(types).not.toContain('error');
    expect(types.filter((type) => type === 'tool-result')).toHaveLength(2);
    expect(asked).toHaveLength(2);
    expect(await result.text).toMatch(/rain[\s\S]*noon/i);
  });

  test('generates an object', async () => {
    const { output } = await generateText({
      model: say({ text: '{"city":"Oslo"}' }),
      output: Output.object({ schema: City }),
      prompt: 'Which city?',
    });
    expect(output.city).toEqual(expect.any(String));
  });

  test('streams an object', async () => {
    const { partialOutputStream, output } = streamText({
      model: say({ text: '{"city":"Oslo"}' }),
      output: Output.object({ schema: City }),
      prompt: 'Which city?',
    });
    let last: unknown;
    for await (const partial of partialOutputStream) last = partial;
    expect(last).toEqual(await output);
  });

  test('continues a conversation from the previous answer', async () => {
    const model = say({ reasoning: 'A greeting.', text: 'My name is Ada.' }, { text: 'Ada, as I said.' });
    const messages: ModelMessage[] = [{ role: 'user', content: 'What is your name?' }];
    const first = await generateText({ model, messages });
    messages.push(...first.response.messages, { role: 'user', content: 'Once more?' });
    const second = await generateText({ model, messages });
    expect(second.finishReason).toBe('stop');
    if (backend !== 'simulator')
      expect(JSON.stringify(backends.lastBody(backend))).toContain('My name is Ada.');
  });

  test('sends images', async () => {
    const { text } = await generateText({
      model: say({ text: 'I received 1 image: a pixel.' }),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'file', data: pixel, mediaType: 'image/png' },
          ],
        },
      ],
    });
    expect(text).toContain('1 image');
  });

  test('reports what broke a stream', async () => {
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: say({ text: 'It all began when the moon was new.', breaks: 'error' }),
      prompt: 'Go on.',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    const types: string[] = [];
    for await (const part of fullStream) types.push(part.type);
    expect(types).toContain('error');
    expect(JSON.stringify(errors)).toContain('upstream_failed');
  });

  test('aborting a call ends the provider’s work', async () => {
    const hasLeft = backends.watchDisconnect(backend);
    const leaving = new AbortController();
    const { fullStream } = streamText({
      model: say({ text: 'It all began when the moon was new. '.repeat(20), breaks: 'stall' }),
      // So that the simulator does not finish before the call is aborted.
      prompt: 'Go on for 2000 words.',
      abortSignal: leaving.signal,
      onError: () => {},
    });
    const types: string[] = [];
    for await (const { type } of fullStream) {
      types.push(type);
      if (type === 'text-delta') leaving.abort();
    }
    expect(types).toContain('abort');
    await hasLeft();
  });
});

describe('reasoning in the Responses format', () => {
  test.each(backendNames)('is streamed and comes back in the next step: %s', async (backend) => {
    const { tools } = weatherAndClock();
    const result = streamText({
      model: openai(
        backends.script(
          backend,
          { reasoning: 'Only the tool knows.', ...bothCalls },
          { text: 'Rain and noon.' },
        ),
      ),
      prompt: askBoth,
      tools,
      stopWhen: isStepCount(3),
      reasoning: 'medium',
      providerOptions: { openai: { reasoningSummary: 'auto', forceReasoning: true } },
    });
    let thoughts = '';
    for await (const part of result.fullStream) if (part.type === 'reasoning-delta') thoughts += part.text;
    expect(thoughts).not.toBe('');
    expect(await result.text).toMatch(/rain[\s\S]*noon/i);
    if (backend === 'anthropic') {
      const [, assistant] = backends.lastBody('anthropic').messages as { content: { type: string }[] }[];
      expect(assistant?.content[0]?.type).toBe('thinking');
    }
  });

  test('comes back sealed with store: false', async () => {
    const { tools } = weatherAndClock();
    const { text } = await generateText({
      model: openai(
        backends.script(
          'anthropic',
          { reasoning: 'Only the tool knows.', ...bothCalls },
          { text: 'Rain and noon.' },
        ),
      ),
      prompt: askBoth,
      tools,
      stopWhen: isStepCount(3),
      providerOptions: {
        openai: { store: false, reasoningSummary: 'auto', reasoningEffort: 'low', forceReasoning: true },
      },
    });
    expect(text).toBe('Rain and noon.');
    const [, assistant] = backends.lastBody('anthropic').messages as { content: { type: string }[] }[];
    expect(assistant?.content[0]?.type).toBe('thinking');
  });
});

test('an unknown model fails the call with a remedy', async () => {
  const call = generateText({ model: openai('sim/asistant'), prompt: 'Hi.', maxRetries: 0 });
  const error = await call.catch((thrown: unknown) => thrown);
  expect(APICallError.isInstance(error) && error.statusCode).toBe(404);
  expect(String(error)).toContain('sim/assistant');
});
