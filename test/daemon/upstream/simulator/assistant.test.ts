import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { user } from '../../../support/inference.ts';
import { called, getAnswer, result, said, startSimulator, tool } from './drive.ts';

describe('sim/assistant without a script', () => {
  const ask = (request: Parameters<typeof getAnswer>[1]) => getAnswer(startSimulator(), request);

  test('repeats the user’s text', async () => {
    const { text, finish, events } = await ask({ items: [user('Is it raining?')] });
    expect(text).toContain('You said: “Is it raining?”');
    expect(finish).toBe('stop');
    expect(events.map(({ type }) => type).filter((type) => type !== 'text')).toEqual([
      'item-started',
      'item-done',
      'usage',
      'finished',
    ]);
  });

  test('gives the same request the same answer, in any order', async () => {
    const one = { items: [user('one')], reasoning: { effort: 'high', summary: undefined } };
    const two = { items: [user('two')], tools: [tool('ping')] };
    const upstream = startSimulator();
    const before = [await getAnswer(upstream, one), await getAnswer(upstream, two)];
    const after = [await getAnswer(startSimulator(), two), await getAnswer(startSimulator(), one)];
    expect(before).toEqual(after.reverse());
  });

  test('counts images and files, and names the files', async () => {
    const { text } = await ask({
      items: [
        user(
          'Look',
          { type: 'image', url: 'data:image/png;base64,AA==' },
          { type: 'image', url: 'https://example.com/a.png' },
          { type: 'file', filename: 'report.pdf', data: 'AA==' },
        ),
      ],
    });
    expect(text).toContain('2 images and 1 file (report.pdf)');
  });

  test('shortens a long message and gives its length', async () => {
    const { text } = await ask({ items: [user('long '.repeat(200))] });
    expect(text).toContain('(999 characters in all)');
    expect(text.length).toBeLessThan(450);
  });

  test('answers an empty request', async () => {
    expect((await ask({})).text).toContain('I received no text.');
  });

  test('writes as many words as requested', async () => {
    const { text } = await ask({ items: [user('Write 300 words about rain.')] });
    expect(text.split(/\s+/)).toHaveLength(300);
  });

  test('streams one word at a time, without delay in one batch', async () => {
    const { deltas, text, batches } = await ask({ items: [user('Tell me more')] });
    expect(deltas.slice(0, 3)).toEqual(['You', ' said:', ' “Tell']);
    expect(deltas.join('')).toBe(text);
    expect(batches).toBe(1);
  });

  test('counts tokens of input and output', async () => {
    const short = await ask({ items: [user('Hi')] });
    const long = await ask({ items: [user('Hi '.repeat(100))], instructions: 'Be brief.' });
    expect(short.tokens).toEqual({ input: 1, cachedInput: 0, cacheWrite: 0, output: 21, reasoning: 0 });
    expect(long.tokens?.input).toBe(104);
  });

  test('is shorter with low verbosity', async () => {
    expect((await ask({ items: [user('Hi')], verbosity: 'low' })).text).toBe('You said: “Hi”.');
  });
});

describe('structured output', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer' },
      email: { type: 'string', format: 'email' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
    },
    required: ['name', 'age', 'email', 'tags'],
    additionalProperties: false,
  };
  const format = {
    type: 'json_schema',
    name: 'person',
    description: undefined,
    schema,
    strict: true,
  } as const;

  test('fits the schema and uses values from the message', async () => {
    const { text } = await getAnswer(startSimulator(), {
      items: [user('name: "Grace Hopper", she is 85, grace@navy.example')],
      format,
    });
    expect(new Ajv2020({ validateFormats: false }).validate(schema, JSON.parse(text))).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ name: 'Grace Hopper', age: 85, email: 'grace@navy.example' });
  });

  test('follows the tool results', async () => {
    const upstream = startSimulator();
    const first = await getAnswer(upstream, { items: [user('Go')], tools: [tool('ping')], format });
    expect(first.calls).toHaveLength(1);
    const items = [user('Go'), called('ping'), result('pong')];
    const second = await getAnswer(upstream, { items, tools: [tool('ping')], format });
    expect(Object.keys(JSON.parse(second.text))).toEqual(['name', 'age', 'email', 'tags']);
  });

  test('json_object is a JSON object', async () => {
    const { text } = await getAnswer(startSimulator(), {
      items: [user('Say “hi”')],
      format: { type: 'json_object' },
    });
    expect(JSON.parse(text)).toEqual({ answer: expect.stringContaining('Say “hi”') });
  });

  test.each([
    ['responses', 'text.format.schema'],
    ['chat', 'response_format.json_schema.schema'],
  ] as const)('a schema without instances is the caller’s fault (%s)', async (wire, param) => {
    const impossible = { ...format, schema: { type: 'integer', minimum: 2, maximum: 1 } };
    await expect(
      getAnswer(startSimulator(), { wire, items: [user('x')], format: impossible }),
    ).rejects.toMatchObject({
      kind: 'caller',
      details: { status: 400, param },
    });
  });
});

describe('reasoning', () => {
  const ask = (effort: string | undefined, summary?: string) =>
    getAnswer(startSimulator(), { items: [user('Think')], reasoning: { effort, summary } });

  test.each([
    ['none', 0],
    ['low', 1],
    ['medium', 2],
    ['high', 3],
  ])('effort %s gives a summary of %i paragraphs', async (effort, paragraphs) => {
    const { summary, tokens, text } = await ask(effort);
    expect(summary).toHaveLength(paragraphs);
    expect((tokens?.reasoning ?? 0) > 0).toBe(paragraphs > 0);
    expect(text).toContain('Think');
  });

  test('is shown if only a summary is requested, and never by default', async () => {
    expect((await ask(undefined, 'auto')).summary).toHaveLength(2);
    expect((await ask(undefined)).summary).toEqual([]);
  });

  test('is part of the output tokens', async () => {
    const plain = await ask('none');
    const thinking = await ask('low');
    const reasoning = thinking.tokens?.reasoning ?? 0;
    expect(thinking.tokens?.output).toBe((plain.tokens?.output ?? 0) + reasoning);
  });

  test('is recognized if sent back unchanged, and ignored otherwise', async () => {
    const { origin } = await ask('low');
    expect(origin).toMatchObject({ provider: 'simulator', model: 'sim/assistant' });
    const replayed = (changed: object) =>
      getAnswer(startSimulator(), {
        items: [
          user('Think'),
          { type: 'reasoning', summary: [], origin: origin && { ...origin, ...changed } },
          said('Done'),
          user('And?'),
        ],
      });
    expect((await replayed({})).text).toContain('I remember my thoughts from 1 earlier step.');
    expect((await replayed({ payload: { turn: 2, signature: 'forged' } })).text).not.toContain('remember');
    expect((await replayed({ model: 'sim/slow' })).text).not.toContain('remember');
    expect((await replayed({ provider: 'other' })).text).not.toContain('remember');
  });
});
