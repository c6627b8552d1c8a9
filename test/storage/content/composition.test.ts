import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ComposedRequest,
  changesSince,
  composeRequest,
} from '../../../src/daemon/storage/content/composition.ts';
import { jsonSpans } from '../../../src/daemon/storage/content/json-spans.ts';

test('spans are the members and elements of any JSON text', () => {
  const indents = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(
      fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())),
      indents,
      (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const found = jsonSpans(text, 0).map(({ name, start, end }) => [
          String(name),
          JSON.parse(text.slice(start, end)),
        ]);
        expect(found).toEqual(Object.entries(JSON.parse(text)));
      },
    ),
  );
});

const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } };
const tool = (name: string, description: string) => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object' } },
});
const composed = (request: object) => composeRequest(JSON.stringify(request)) as ComposedRequest;
const partsOf = ({ items, parameters }: ComposedRequest) => [...items.flat(), ...parameters];
const describeParts = (request: object) =>
  partsOf(composed(request)).map(({ path, kind, role, name }) => [path, kind, role, name]);

describe('the parts of a request', () => {
  test('of a chat completion, in the order in which models read them', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const request = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'A cat.' },
      ],
      tools: [tool('look', 'Looks.')],
    };
    expect(describeParts(request)).toEqual([
      ['tools[0]', 'tool', null, 'look'],
      ['messages[0]', 'system', 'system', null],
      ['messages[1]', 'message', 'user', null],
      ['messages[1].content[1]', 'image', 'user', null],
      ['messages[2]', 'tool_call', 'assistant', 'look'],
      ['messages[3]', 'tool_result', 'tool', null],
      ['model', 'parameter', null, null],
    ]);
    const text = JSON.stringify(request);
    const parts = partsOf(composed(request));
    const values = [request.tools[0], ...request.messages, 'm'];
    const found = parts.map(({ start, end }) => JSON.parse(text.slice(start, end)));
    expect(found.toSpliced(3, 1)).toEqual(values);
    expect(found[3]).toEqual(image);
    // The image counts once, and not by its length.
    const [message, picture] = [parts[2], parts[3]];
    expect(picture?.tokens).toBe(1_000);
    expect(message?.tokens).toBeLessThan(50);
  });

  test('of a message and a response', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: {} }] };
    expect(
      describeParts({
        system: [{ type: 'text', text: 'One.' }],
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }] },
          { role: 'user', content: [result] },
        ],
      }),
    ).toEqual([
      ['system[0]', 'system', 'system', null],
      ['messages[0]', 'tool_call', 'assistant', 'look'],
      ['messages[1]', 'tool_result', 'user', null],
      ['messages[1].content[0].content[0]', 'image', 'user', null],
    ]);
    expect(
      describeParts({
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'reasoning', summary: [] },
          { type: 'function_call', name: 'look', arguments: '{}', call_id: 'c' },
          { type: 'function_call_output', call_id: 'c', output: 'A cat.' },
        ],
        instructions: 'Be short.',
      }),
    ).toEqual([
      ['instructions', 'system', 'system', null],
      ['input[0]', 'message', 'user', null],
      ['input[1]', 'reasoning', null, null],
      ['input[2]', 'tool_call', null, 'look'],
      ['input[3]', 'tool_result', null, null],
    ]);
    expect(describeParts({ input: 'Hi' })).toEqual([['input', 'message', 'user', null]]);
  });

  test('are none of what is no object', () => {
    for (const text of ['', '[]', '"text"', '{"a":', 'plain']) expect(composeRequest(text)).toBeUndefined();
  });
});

describe('where the cached prompt breaks', () => {
  const request = (more: object = {}) => ({
    model: 'm',
    tools: [tool('a', 'It is 12:03.'), tool('b', 'Other.')],
    messages: [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
    ],
    ...more,
  });
  const compare = (before: object, after: object) =>
    changesSince(composed(before), composed(after), '/v1/chat/completions');

  test('nowhere, if one continues the other', () => {
    const { messages } = request();
    const longer = request({ messages: [...messages, { role: 'user', content: 'Three' }], stream: true });
    const { broke, unchanged, changedParameters } = compare(request(), longer);
    expect([broke, unchanged.length, changedParameters]).toEqual([null, 4, []]);
    expect(compare(longer, request()).broke).toBeNull();
  });

  test('not at markers for the cache, nor where a text is written as a list', () => {
    const text = { type: 'text', text: 'One', cache_control: { type: 'ephemeral' } };
    const messages = [{ role: 'user', content: [text] }];
    expect(compare(request(), request({ messages })).broke).toBeNull();
  });

  test('at the first difference, with the text around it', () => {
    const tools = [tool('a', 'It is 12:04.'), tool('b', 'Other.')];
    expect(compare(request(), request({ tools, temperature: 1 }))).toMatchObject({
      unchanged: [],
      changedParameters: ['temperature'],
      broke: {
        path: 'tools[0].function.description',
        change: 'changed',
        before: 'It is 12:03.',
        after: 'It is 12:04.',
      },
    });
    expect(compare(request(), request({ model: 'n' })).broke).toMatchObject({ path: 'model', before: 'm' });
  });

  test('where a tool or message was inserted or removed', () => {
    const [a, b] = request().tools;
    const inserted = request({ tools: [a, tool('new', 'New.'), b] });
    expect(compare(request(), inserted).broke).toMatchObject({
      path: 'tools[1]',
      change: 'inserted',
      before: '',
      after: expect.stringContaining('"new"'),
    });
    expect(compare(inserted, request()).broke).toMatchObject({
      path: 'tools[1]',
      change: 'removed',
      after: '',
    });
    expect(compare(inserted, request()).unchanged).toHaveLength(1);
  });
});
