import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answerConversation,
  answerText,
  blockText,
  type Conversation,
  requestConversation,
} from '../../src/view/conversation.ts';

const shown = ({ passages }: Conversation) =>
  passages.map(({ role, blocks }) => [role, ...blocks.map(({ kind, text }) => `${kind} ${text}`)]);

const linesOf = ({ passages }: Conversation) =>
  passages.flatMap(({ role, blocks }) => blocks.map((block) => `${role}: ${blockText(block)}`));

describe('a request', () => {
  test('of each format has the same messages', () => {
    const chat = {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }] },
        { role: 'tool', content: 'ok' },
      ],
    };
    const messages = {
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', name: 'f', input: { a: 1 } }] },
        { role: 'tool', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'ok' }] }] },
      ],
    };
    const responses = {
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        { type: 'function_call', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', output: 'ok' },
      ],
    };
    const all = [chat, messages, responses].map((body) => shown(requestConversation(body)));
    expect(all[0]).toEqual([
      ['system', 'text Be brief.'],
      ['user', 'text Hi'],
      ['assistant', 'call {\n  "a": 1\n}'],
      ['tool', 'result ok'],
    ]);
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
  });

  test('has its tools and its other members apart', () => {
    const tool = { type: 'function', function: { name: 'f', description: 'Does it.', parameters: {} } };
    const { tools, parameters } = requestConversation({ model: 'm', tools: [tool], input: 'Hi' });
    expect(tools).toEqual([{ name: 'f', description: 'Does it.', text: JSON.stringify(tool, null, 2) }]);
    expect(parameters).toEqual([['model', 'm']]);
  });

  test('has one line for what is no text', () => {
    const content = [
      { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(16_000)}` },
      { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      { type: 'input_image', file_id: 'file_1' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      { type: 'file', file: { filename: 'b.pdf', file_data: 'AAAA' } },
      { type: 'input_file', file_url: 'https://example.org/c.pdf' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
      { type: 'input_audio', input_audio: { data: 'AAAA' } },
    ];
    const input = [
      { role: 'user', content },
      { type: 'reasoning', summary: [] },
      { type: 'custom_tool_call', name: 'shell', input: 'ls\n-l' },
      { type: 'web_search_call', action: { query: 'x' } },
      { type: 'image_generation_call', result: 'AAAA' },
      { type: 'item_reference', id: 'msg_1' },
      { type: 'computer_call_output', output: { type: 'computer_screenshot' } },
    ];
    expect(linesOf(requestConversation({ input }))).toEqual([
      'user: [image image/png, 11.7 KiB]',
      'user: [image https://example.org/a.png]',
      'user: [image image/jpeg, 3 B]',
      'user: [image file_1]',
      'user: [file a.pdf, 3 B]',
      'user: [file b.pdf, 3 B]',
      'user: [file https://example.org/c.pdf]',
      'user: [file document, 3 B]',
      'user: [input audio]',
      'assistant: [no summary]',
      'assistant: [call shell(ls -l)]',
      'assistant: [web search call]',
      'assistant: [image image/png, 3 B]',
      'earlier: [item msg_1]',
      'tool: [result { "type": "computer_screenshot" }]',
    ]);
  });
});

describe('an answer', () => {
  const reasoned = {
    role: 'assistant',
    content: 'Yes.',
    reasoning_content: 'Hm.',
    refusal: 'No.',
    tool_calls: [
      { function: { name: 'f', arguments: '{' } },
      { type: 'custom', custom: { name: 'g', input: 'x' } },
    ],
    images: [{ type: 'image_url', image_url: { url: 'u' } }],
    function_call: { name: 'h', arguments: '{}' },
  };

  test('has what a chat message can have, reasoning first', () => {
    expect(linesOf(answerConversation({ choices: [{ message: reasoned }] }))).toEqual([
      'assistant: Hm.',
      'assistant: Yes.',
      'assistant: [call f({)]',
      'assistant: [call g(x)]',
      'assistant: No.',
      'assistant: [image u]',
      'assistant: [call h({})]',
    ]);
  });

  test.each([
    [{ choices: [{ message: { role: 'assistant', content: 'Yes.' } }] }],
    [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '…' },
          { type: 'text', text: 'Yes.' },
        ],
      },
    ],
    [
      {
        instructions: 'Of the request.',
        tools: [{ type: 'function', name: 'f' }],
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] }],
      },
    ],
  ])('says its text: %j', (body) => {
    const conversation = answerConversation(body);
    expect(answerText(conversation)).toBe('Yes.');
    expect(conversation.tools).toEqual([]);
  });

  test('may be an error', () => {
    expect(shown(answerConversation({ error: { message: 'No.' } }))).toEqual([['error', 'text No.']]);
  });
});

test('any JSON is read', () => {
  const members = ['messages', 'input', 'output', 'choices', 'content', 'tools', 'system'];
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...members), (value, name) => {
      const bodies = [
        value,
        { [name]: value },
        { [name]: [value] },
        { [name]: [{ role: 'user', content: value, tool_calls: value, reasoning: value }] },
        { [name]: [{ type: 'input_file', file: value, source: value, image_url: value }] },
      ];
      for (const body of bodies)
        for (const read of [requestConversation, answerConversation]) linesOf(read(body));
    }),
  );
});
