import { describe, expect, test } from 'vitest';
import { user } from '../../../support/inference.ts';
import { getAnswer, startSimulator, tool } from './drive.ts';

const weather = tool('get_weather', {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 1, maximum: 7 },
  },
  required: ['city'],
  additionalProperties: false,
});
describe('limits', () => {
  const items = [user('Tell me a long story about the sea, please')];

  test.each([
    [{ outputTokensMax: 5 }, 5],
    [{ outputTokensMax: 100, affordable: 3 }, 3],
  ])('output stops at %o', async (limit, tokens) => {
    const received = await getAnswer(startSimulator(), { items, ...limit });
    expect(received).toMatchObject({ finish: 'max_output_tokens', tokens: { output: tokens } });
  });

  test('an answer that just fits is complete', async () => {
    const whole = await getAnswer(startSimulator(), { items });
    const fitting = await getAnswer(startSimulator(), { items, outputTokensMax: whole.tokens?.output });
    expect(fitting).toEqual(whole);
  });

  test('thoughts may use up the limit and are then not sent back', async () => {
    const reasoning = { effort: 'high', summary: undefined };
    const received = await getAnswer(startSimulator(), { items, reasoning, outputTokensMax: 4 });
    expect(received).toMatchObject({ text: '', finish: 'max_output_tokens', origin: undefined });
  });

  test('arguments are cut like text', async () => {
    const { calls, finish } = await getAnswer(startSimulator(), {
      items: [user('How is the weather in San Francisco?')],
      tools: [weather],
      outputTokensMax: 2,
    });
    expect(calls[0]?.arguments).toBe('{"city":"San');
    expect(finish).toBe('max_output_tokens');
  });

  test('a stop sequence ends the text before it', async () => {
    const { text, finish } = await getAnswer(startSimulator(), {
      items,
      sampling: { stop: ['never', ' story'] },
    });
    expect(text).toBe('You said: “Tell me a long');
    expect(finish).toBe('stop');
  });

  test('an input longer than the context is refused as too long', async () => {
    await expect(
      getAnswer(startSimulator(), { items: [user('word '.repeat(130_000))] }),
    ).rejects.toMatchObject({
      kind: 'caller',
      details: { code: 'context_length_exceeded' },
    });
  });
});

describe('log probabilities', () => {
  test('are sent with each delta, and their tokens join to the delta', async () => {
    const { events } = await getAnswer(startSimulator(), {
      items: [user('Extraordinary circumstances 🎉')],
      sampling: { topLogprobs: 3 },
    });
    for (const event of events) {
      if (event.type !== 'text') continue;
      const entries = event.logprobs as {
        token: string;
        logprob: number;
        bytes: number[];
        top_logprobs: never[];
      }[];
      expect(entries.map(({ token }) => token).join('')).toBe(event.delta);
      for (const { token, logprob, bytes, top_logprobs } of entries) {
        expect(Buffer.from(bytes).toString()).toBe(token);
        const top = top_logprobs as { token: string; logprob: number }[];
        expect(top[0]).toMatchObject({ token, logprob });
        expect(new Set(top.map((one) => one.token)).size).toBe(3);
        const sum = top.reduce((all, one) => all + Math.exp(one.logprob), 0);
        expect(sum).toBeLessThan(1);
        expect(top.map((one) => one.logprob)).toEqual(top.map((one) => one.logprob).sort((a, b) => b - a));
      }
    }
  });

  test('are left out unless requested', async () => {
    const { events } = await getAnswer(startSimulator(), { items: [user('Hi')] });
    expect(events.filter((event) => 'logprobs' in event)).toEqual([]);
  });
});
