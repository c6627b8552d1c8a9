import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ComparedCall, compareCalls } from '../../../src/shared/comparison/compare-calls.ts';
import { answerParts, requestParts } from '../../../src/shared/comparison/request-parts.ts';
import { textChanges } from '../../../src/shared/comparison/text-changes.ts';
import { linearGrowth, stepGrowth } from '../../support/count-steps.ts';

const call = (request: unknown, more: Partial<ComparedCall> = {}): ComparedCall => ({
  endpoint: '/v1/messages',
  model: 'acme/large',
  provider: 'acme',
  request,
  answer: undefined,
  ...more,
});

const tool = (name: string, description: string) => ({ name, description, input_schema: { type: 'object' } });
const turn = { role: 'user', content: 'What time is it?' };
const reply = { role: 'assistant', content: [{ type: 'text', text: 'Noon.' }] };

describe('the prompt cache', () => {
  test('is unbroken when the later request continues the earlier one, wherever the marks are', () => {
    const marked = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }];
    const before = call({ system: marked, messages: [turn] });
    const content = [{ type: 'text', text: turn.content, cache_control: { type: 'ephemeral' } }];
    const messages = [{ role: 'user', content }, reply, { role: 'user', content: 'And now?' }];
    const { cache, parts } = compareCalls(before, call({ system: 'Be brief.', messages }));
    expect(cache).toMatchObject({ break: null, unchanged_parts: 2 });
    expect(parts.map(({ change }) => change)).toEqual(['same', 'same', 'added', 'added']);
  });

  test('breaks at the first part that differs, in the order in which providers read them', () => {
    const tools = (time: string) => [tool('ls', 'Lists files.'), tool('time', `Now: 12:${time}.`)];
    const before = call({ messages: [turn], system: 'Be brief.', tools: tools('03') });
    const after = call({ messages: [turn, reply], system: 'Be brief.', tools: tools('04') });
    expect(compareCalls(before, after).cache).toMatchObject({
      unchanged_parts: 1,
      break: {
        reason: 'part',
        path: 'tools[1]',
        role: 'time',
        before: expect.stringContaining('12:03'),
        after: expect.stringContaining('12:04'),
      },
    });
  });

  test('breaks where the earlier request had a part that the later one lacks', () => {
    const { cache } = compareCalls(call({ messages: [turn, reply] }), call({ messages: [turn] }));
    expect(cache?.break).toMatchObject({ path: 'messages[1].content[0]', before: 'Noon.', after: null });
  });

  test('is not shared by models, nor by providers', () => {
    const request = { messages: [turn] };
    const model = compareCalls(call(request), call(request, { model: 'acme/small' }));
    expect(model.cache?.break).toMatchObject({ reason: 'model', before: 'acme/large', after: 'acme/small' });
    const provider = compareCalls(call(request), call(request, { provider: 'other' }));
    expect(provider.cache?.break).toMatchObject({ reason: 'provider', after: 'other' });
  });

  test('depends on parameters of its format', () => {
    const withChoice = (type: string) => call({ messages: [turn], tool_choice: { type } });
    const { cache, parameters } = compareCalls(withChoice('auto'), withChoice('any'));
    expect(parameters).toEqual([{ name: 'tool_choice.type', before: '"auto"', after: '"any"' }]);
    expect(cache?.break).toMatchObject({ reason: 'parameter', path: 'tool_choice.type' });
    const elsewhere = { endpoint: '/v1/chat/completions' };
    const chat = compareCalls(
      { ...withChoice('auto'), ...elsewhere },
      { ...withChoice('any'), ...elsewhere },
    );
    expect(chat.cache?.break).toBeNull();
  });
});

test('every format has the same parts: tools, instructions, messages', () => {
  const kinds = (body: object) => requestParts(body).map(({ kind, role, text }) => [kind, role, text]);
  const said = [
    ['message', 'user', 'Hi'],
    ['message', 'assistant', 'ls {\n  "at": "/"\n}'],
    ['message', 'tool', 'a\nb'],
  ];
  const chat = {
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: '1', type: 'function', function: { name: 'ls', arguments: '{"at":"/"}' } }],
      },
      { role: 'tool', tool_call_id: '1', content: 'a\nb' },
    ],
    tools: [{ type: 'function', function: { name: 'ls', description: 'Lists.\nAll.', parameters: {} } }],
  };
  expect(kinds(chat)).toEqual([['tool', 'ls', expect.stringMatching(/^Lists\.\nAll\.\n\{/)], ...said]);
  const responses = {
    instructions: 'Be brief.',
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'function_call', call_id: '1', name: 'ls', arguments: '{"at":"/"}' },
      { type: 'function_call_output', call_id: '1', output: 'a\nb' },
    ],
  };
  expect(kinds(responses)).toEqual([['instructions', 'system', 'Be brief.'], ...said]);
  const messages = {
    system: 'Be brief.',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'ls', input: { at: '/' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'a\nb' }] },
    ],
  };
  expect(kinds(messages)).toEqual([
    ['instructions', 'system', 'Be brief.'],
    ...said.slice(0, 2),
    ['message', 'user', 'a\nb'],
  ]);
});

test('answers of every format have parts', () => {
  const texts = (body: object) => answerParts(body).map(({ text }) => text);
  expect(texts({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }] })).toEqual([
    'Hi',
  ]);
  expect(texts({ choices: [{ message: { role: 'assistant', content: 'Hi' } }] })).toEqual(['Hi']);
  expect(texts({ content: [{ type: 'text', text: 'Hi' }] })).toEqual(['Hi']);
  expect(texts({ error: { message: 'No.' } })).toEqual(['No.']);
});

test('two pictures are told apart by a line each', () => {
  const picture = (letter: string) => ({
    role: 'user',
    content: [{ type: 'input_image', image_url: `data:image/png;base64,${letter.repeat(5_000)}` }],
  });
  const { parts } = compareCalls(call({ input: [picture('A')] }), call({ input: [picture('B')] }));
  const lines = parts.flatMap(({ hunks }) => hunks).flatMap((hunk) => hunk.lines);
  expect(lines.filter(({ change }) => change !== 'same').map(({ text }) => text)).toEqual([
    expect.stringMatching(/\[image\/png, 4 kB, [0-9a-f]{8}\]/),
    expect.stringMatching(/\[image\/png, 4 kB, [0-9a-f]{8}\]/),
  ]);
});

test('answers are compared, too', () => {
  const answer = (text: string) => ({ answer: { content: [{ type: 'text', text }] } });
  const { answer: parts } = compareCalls(call({}, answer('It is noon.')), call({}, answer('It is late.')));
  expect(parts).toMatchObject([{ change: 'changed', path: 'content[0]' }]);
});

test('what is not kept is not compared', () => {
  const comparison = compareCalls(call(undefined), call({ messages: [turn] }));
  expect(comparison).toMatchObject({ parameters: [], parts: [], cache: null });
});

describe('the lines of a text', () => {
  test('have words that changed, and some lines around them', () => {
    const text = (word: string) =>
      ['one', 'two', 'three', `four ${word} five`, 'six', 'seven', 'eight'].join('\n');
    expect(textChanges(text('old'), text('new'))).toEqual([
      {
        before_line: 2,
        after_line: 2,
        lines: [
          { change: 'same', text: 'two' },
          { change: 'same', text: 'three' },
          {
            change: 'removed',
            text: 'four old five',
            words: [
              { change: 'same', text: 'four ' },
              { change: 'removed', text: 'old' },
              { change: 'same', text: ' five' },
            ],
          },
          {
            change: 'added',
            text: 'four new five',
            words: [
              { change: 'same', text: 'four ' },
              { change: 'added', text: 'new' },
              { change: 'same', text: ' five' },
            ],
          },
          { change: 'same', text: 'six' },
          { change: 'same', text: 'seven' },
        ],
      },
    ]);
  });

  const line = fc.constantFrom('a', 'b', 'c d', 'e f g', '');
  test('of both texts are all there, each once', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (before, after) => {
        const [from, to] = [before.join('\n'), after.join('\n')];
        const lines = textChanges(from, to).flatMap((hunk) => hunk.lines);
        const count = (change: string) => lines.filter((one) => one.change === change).length;
        // What is left out is the same on both sides.
        const linesOf = (text: string) => (text === '' ? [''] : text.replace(/\n$/, '').split('\n')).length;
        expect(linesOf(to) - linesOf(from)).toBe(count('added') - count('removed'));
        if (from === to) expect(lines).toEqual([]);
        for (const { words, text } of lines)
          if (words) expect(words.map((word) => word.text).join('')).toBe(text);
      }),
    );
  });
});

const growthOf = stepGrowth('compare-calls');

test('texts without anything in common are compared in linear time', async () => {
  const { growth, result } = await growthOf('texts without anything in common', 1_500);
  expect(growth).toBeLessThan(linearGrowth);
  expect(result).toBe(1);
});
