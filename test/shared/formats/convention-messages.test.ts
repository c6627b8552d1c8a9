import { describe, expect, test } from 'vitest';
import { conventionAnswer, conventionRequest } from '../../../src/shared/formats/convention-messages.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tool = { type: 'function', name: 'weather', description: 'The weather.', parameters: schema };
const conversation = [
  { role: 'user', parts: [{ type: 'text', content: 'Rain in Oslo?' }] },
  {
    role: 'assistant',
    parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }],
  },
  { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'Yes.' }] },
];

describe('a conversation with a tool is the same from each format', () => {
  test('chat completions', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
    expect(
      conventionRequest({
        tools: [
          {
            type: 'function',
            function: { name: 'weather', description: 'The weather.', parameters: schema },
          },
        ],
        messages: [
          { role: 'user', content: 'Rain in Oslo?' },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c1', content: 'Yes.' },
        ],
      }),
    ).toEqual({ instructions: [], tools: [tool], messages: conversation });
    expect(
      conventionAnswer(
        { choices: [{ message: { role: 'assistant', content: null, tool_calls: [call] } }] },
        'stop',
      ),
    ).toEqual([{ ...conversation[1], finish_reason: 'tool_call' }]);
  });

  test('Responses', () => {
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c1',
      name: 'weather',
      arguments: '{"city":"Oslo"}',
    };
    expect(
      conventionRequest({
        instructions: 'Be brief.',
        tools: [tool],
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'Rain in Oslo?' }] },
          call,
          { type: 'function_call_output', call_id: 'c1', output: 'Yes.' },
        ],
      }),
    ).toEqual({
      instructions: [{ type: 'text', content: 'Be brief.' }],
      tools: [tool],
      messages: conversation,
    });
    const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] };
    expect(conventionAnswer({ output: [reasoning, call] }, 'stop')).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'reasoning', content: 'Hm.' }, ...(conversation[1]?.parts ?? [])],
        finish_reason: 'tool_call',
      },
    ]);
  });

  test('Messages', () => {
    const use = { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } };
    expect(
      conventionRequest({
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        tools: [{ name: 'weather', description: 'The weather.', input_schema: schema }],
        messages: [
          { role: 'user', content: 'Rain in Oslo?' },
          { role: 'assistant', content: [use] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'Yes.' }] }],
          },
        ],
      }),
    ).toEqual({
      instructions: [{ type: 'text', content: 'Be brief.' }],
      tools: [tool],
      messages: conversation,
    });
    expect(conventionAnswer({ content: [{ type: 'thinking', thinking: 'Hm.' }, use] }, 'stop')).toMatchObject(
      [
        {
          parts: [
            { type: 'reasoning', content: 'Hm.' },
            { type: 'tool_call', id: 'c1' },
          ],
          finish_reason: 'tool_call',
        },
      ],
    );
  });
});

test('each choice is a message, and ends as the conventions name it', () => {
  const choices = ['A', 'B'].map((content) => ({ message: { role: 'assistant', content } }));
  expect(conventionAnswer({ choices }, 'max_output_tokens')).toEqual(
    ['A', 'B'].map((content) => ({
      role: 'assistant',
      parts: [{ type: 'text', content }],
      finish_reason: 'length',
    })),
  );
  expect(conventionAnswer({ error: { message: 'No.' } }, null)).toEqual([]);
});

test('pictures are named, not copied', () => {
  const url = `data:image/png;base64,${'A'.repeat(4000)}`;
  const content = [{ type: 'image_url', image_url: { url } }];
  const { messages } = conventionRequest({ messages: [{ role: 'user', content }] });
  expect(messages).toMatchObject([{ role: 'user', parts: [{ type: 'image_url' }] }]);
  expect(JSON.stringify(messages)).not.toContain('AAAA');
});

test.each([
  null,
  7,
  'text',
  [],
  {},
  { messages: 7 },
  { messages: [null, 7, { role: 7, content: {} }], tools: [null] },
])('what is no request has what can be read of it: %j', (body) => {
  expect(() => conventionRequest(body)).not.toThrow();
  expect(() => conventionAnswer(body, null)).not.toThrow();
});
