import { describe, expect, test } from 'vitest';
import { parseChat } from '../../../../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseResponses } from '../../../../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../../../../src/daemon/features/inference/formats/responses/parse-input.ts';

const nothingSealed = () => undefined;
const origin = { provider: 'p', model: 'm', payload: 1 };
const body = (members: object) => ({ model: 'm', ...members }) as never;
const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };

describe('Responses items', () => {
  test('a string is one user message', () => {
    expect(parseInput('hi', nothingSealed)).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ]);
  });

  test('a message needs no type, and its content may be a string', () => {
    expect(parseInput([{ role: 'developer', content: 'be brief' }], nothingSealed)).toMatchObject([
      { type: 'message', role: 'developer', content: [{ type: 'text', text: 'be brief' }] },
    ]);
  });

  test('a call without arguments has an empty object', () => {
    const item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '' };
    expect(parseInput([item], nothingSealed)).toMatchObject([{ arguments: '{}' }]);
  });

  test('an item of an unknown type stays opaque', () => {
    const item = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const parsed = { type: 'opaque', wire: 'responses', json: item, param: 'input[0]' };
    expect(parseInput([item], nothingSealed)).toEqual([parsed]);
  });

  test.each([
    [{ role: 'robot', content: 'x' }, 'input[0].role'],
    [
      { role: 'user', content: [{ type: 'input_text', text: 'x' }, { type: 'hologram' }] },
      'input[0].content[1].type',
    ],
    [
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'hologram' }] },
      'input[0].output[0].type',
    ],
  ])('%j stays opaque, without its id, for what is unknown at %s', (item, unknown) => {
    const parsed = { type: 'opaque', wire: 'responses', json: item, param: 'input[0]', unknown };
    expect(parseInput([{ ...item, id: 'msg_ours' }], nothingSealed)).toEqual([parsed]);
  });

  test('sealed reasoning is opened', () => {
    const item = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 's' }],
      encrypted_content: 'x',
    };
    expect(parseInput([item], () => origin)).toEqual([{ type: 'reasoning', summary: ['s'], origin }]);
  });

  test.each([
    [[5], 'input[0]'],
    [[{ role: 7, content: 'x' }], 'input[0].role'],
    [[{ role: 'user' }], 'input[0].content'],
    [[{ role: 'user', content: [{ type: 'input_text' }] }], 'input[0].content[0].text'],
    [
      [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///x' }] }],
      'input[0].content[0].image_url',
    ],
    [[{ role: 'user', content: [{ type: 'input_image' }] }], 'input[0].content[0].image_url'],
    [[{ role: 'user', content: [{ type: 'input_file' }] }], 'input[0].content[0].file_data'],
    [[{ type: 'function_call', name: 'f' }], 'input[0].call_id'],
    [[{ type: 'function_call', call_id: '', name: 'f' }], 'input[0].call_id'],
    [[{ type: 'function_call', call_id: 'c' }], 'input[0].name'],
    [[{ type: 'function_call_output', call_id: 'c' }], 'input[0].output'],
    [
      [
        { role: 'user', content: 'ok' },
        { type: 'reasoning', summary: [], encrypted_content: 'gws1.z' },
      ],
      'input[1].encrypted_content',
    ],
    [[{ type: 'reasoning', summary: 'x' }], 'input[0].summary'],
    [[{ type: 7 }], 'input[0].type'],
  ])('%j is refused at %s', (input, param) => {
    expect(() => parseInput(input, nothingSealed)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });
});

describe('Responses tools', () => {
  test('of unknown types stay opaque', () => {
    const { tools } = parseResponses(body({ tools: [{ type: 'web_search' }, tool] }), []);
    expect(tools).toMatchObject([
      { type: 'opaque', json: { type: 'web_search' } },
      { type: 'function', name: 'f' },
    ]);
  });

  test.each([
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function', name: 'not a name' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function', name: 'f', parameters: 'x' }] }, 'tools[0].parameters'],
    [{ tools: [{ type: 'function', name: 'f', strict: 1 }] }, 'tools[0].strict'],
    [{ tools: [tool], tool_choice: {} }, 'tool_choice.type'],
    [{ tools: [tool], tool_choice: { type: 17 } }, 'tool_choice.type'],
    [{ tools: [tool], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name'],
    [
      { tools: [tool], tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'g' }] } },
      'tool_choice.tools[0].name',
    ],
    [{ text: { verbosity: 17 } }, 'text.verbosity'],
    [
      { text: { format: { type: 'json_schema', name: 'x', schema: {}, strict: 'no' } } },
      'text.format.strict',
    ],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema'],
    [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  ])('%j is refused at %s', (members, param) => {
    expect(() => parseResponses(body(members), [])).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });
});

describe('chat messages', () => {
  const parse = (messages: unknown[], members: object = {}) =>
    parseChat(body({ messages, ...members }), nothingSealed);

  test('become items: one for each tool call, and outputs for tool messages', () => {
    const { items } = parse([
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'u' },
          { type: 'image_url', image_url: { url: 'https://x/y.png' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    ]);
    expect(items).toEqual([
      { type: 'message', role: 'system', content: [{ type: 'text', text: 's' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'text', text: 'u' },
          { type: 'image', url: 'https://x/y.png' },
        ],
      },
      { type: 'function_call', callId: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', callId: 'c1', output: [{ type: 'text', text: 'sunny' }] },
    ]);
  });

  test('with calls of unknown tools stay opaque, as do their outputs', () => {
    const call = { id: 'c1', type: 'web_search', query: 'rain' };
    const output = { role: 'tool', tool_call_id: 'c1', content: 'done' };
    const { items } = parse([{ role: 'assistant', tool_calls: [call] }, output]);
    expect(items).toEqual([
      { type: 'opaque', wire: 'chat', json: call, param: 'messages[0].tool_calls[0]' },
      { type: 'opaque', wire: 'chat', json: output, param: 'messages[1]' },
    ]);
  });

  test.each([
    [{ role: 'narrator', content: 'x' }, 'messages[0].role'],
    [{ role: 'user', content: [{ type: 'hologram' }] }, 'messages[0].content[0].type'],
  ])('%j stays opaque, for what is unknown at %s', (message, unknown) => {
    const parsed = { type: 'opaque', wire: 'chat', json: message, param: 'messages[0]', unknown };
    expect(parse([message]).items).toEqual([parsed]);
  });

  test('with calls of custom tools have their input', () => {
    const call = { id: 'c1', type: 'custom', custom: { name: 'patch', input: '*** Begin' } };
    const output = { role: 'tool', tool_call_id: 'c1', content: 'done' };
    const { items } = parse([{ role: 'assistant', tool_calls: [call] }, output]);
    expect(items).toEqual([
      { type: 'function_call', callId: 'c1', name: 'patch', arguments: '*** Begin', custom: true },
      { type: 'function_call_output', callId: 'c1', output: [{ type: 'text', text: 'done' }], custom: true },
    ]);
  });

  test('may use the deprecated function_call', () => {
    const functions = [{ name: 'f', parameters: { type: 'object' } }];
    const asked = (function_call: unknown) =>
      parse([{ role: 'user', content: 'x' }], { functions, function_call }).toolChoice;
    expect(asked({ name: 'f' })).toEqual({ mode: 'function', name: 'f' });
    expect(asked('none')).toEqual({ mode: 'none' });
  });

  test('with an empty list of stop sequences have none', () => {
    const sampling = (stop: unknown) => parse([{ role: 'user', content: 'x' }], { stop }).sampling;
    expect([[], null, 'END', ['\n']].map(sampling)).toEqual([{}, {}, { stop: ['END'] }, { stop: ['\n'] }]);
  });

  test('with reasoning sealed here are opened, and providers never get the sealed text', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'gws1.x', format: 'gateway-sealed-v1' }];
    const messages = [{ role: 'assistant', content: 'a', reasoning_details: details }];
    const parsed = parseChat(body({ messages }), () => origin);
    expect(parsed.items[0]).toEqual({ type: 'reasoning', summary: [], origin });
    expect(parsed.body.messages).toEqual([{ role: 'assistant', content: 'a' }]);
  });

  test.each([
    [[{ role: 'user', content: [{ type: 'text' }] }], 'messages[0].content[0].text'],
    [[{ role: 'user', content: [{ type: 'image_url' }] }], 'messages[0].content[0].image_url'],
    [
      [{ role: 'user', content: [{ type: 'image_url', image_url: 'ftp://x' }] }],
      'messages[0].content[0].image_url',
    ],
    [
      [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf' } }] }],
      'messages[0].content[0].file.file_data',
    ],
    [[{ role: 'tool', content: 'x' }], 'messages[0].tool_call_id'],
    [[{ role: 'assistant', tool_calls: [{ id: 'c' }] }], 'messages[0].tool_calls[0].function'],
    [[{ role: 'assistant', tool_calls: [{ function: { name: 'f' } }] }], 'messages[0].tool_calls[0].id'],
  ])('%j is refused at %s', (messages, param) => {
    expect(() => parse(messages)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });

  test.each([
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ tools: [{ type: 'function', function: { name: 'ö' } }] }, 'tools[0].function.name'],
    [{ tools: [{ type: 'function', function: { name: 'f', strict: 1 } }] }, 'tools[0].function.strict'],
    [{ tool_choice: { type: ['function'] } }, 'tool_choice.type'],
    [{ tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice.function.name'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ stop: '' }, 'stop'],
    [{ stop: ['\n', ''] }, 'stop[1]'],
  ])('%j is refused at %s', (members, param) => {
    expect(() => parse([{ role: 'user', content: 'x' }], members)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });
});
