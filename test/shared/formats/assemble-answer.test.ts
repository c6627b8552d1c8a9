import { describe, expect, test } from 'vitest';
import { AnswerAssembler } from '../../../src/shared/formats/assemble-answer.ts';

const eventsOf = (events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

function assembled(events: readonly object[]) {
  const assembler = new AnswerAssembler();
  const characters = events.map((event) => assembler.push(eventsOf([event])));
  return { characters, answer: assembler.answer() };
}

describe('the events of a stream become the whole answer', () => {
  test('of a chat, with text, calls and usage', () => {
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' };
    const delta = (delta: object, finish_reason: string | null = null, index = 0) => ({
      ...head,
      choices: [{ index, delta, finish_reason }],
    });
    const call = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
    const { answer, characters } = assembled([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      call({ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a"' } }),
      call({ function: { arguments: ':1}' } }),
      delta({}, 'tool_calls'),
      delta({ content: 'other' }, 'stop', 1),
      { ...head, choices: [], usage: { total_tokens: 3 } },
    ]);
    expect(characters).toEqual([0, 3, 2, 0, 0, 0, 5, 0]);
    expect(answer).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'a/b',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
        { index: 1, message: { role: 'assistant', content: 'other' }, finish_reason: 'stop' },
      ],
      usage: { total_tokens: 3 },
    });
  });

  test('of messages, with thinking, a tool and usage', () => {
    const block = (index: number, content_block: object) => ({
      type: 'content_block_start',
      index,
      content_block,
    });
    const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
    const { answer } = assembled([
      {
        type: 'message_start',
        message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 4 } },
      },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'abc' }),
      block(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Hello' }),
      block(2, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"at":' }),
      delta(2, { type: 'input_json_delta', partial_json: '"it"}' }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]);
    expect(answer).toEqual({
      id: 'msg_1',
      role: 'assistant',
      stop_reason: 'tool_use',
      usage: { input_tokens: 4, output_tokens: 9 },
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
      ],
    });
  });

  test('of a response: its last event, or what there was before it broke off', () => {
    const begun = [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } },
      { type: 'response.output_text.delta', output_index: 0, delta: 'Hel' },
    ];
    expect(assembled(begun).answer).toEqual({
      id: 'resp_1',
      status: 'in_progress',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hel' }] }],
    });
    const response = { id: 'resp_1', status: 'completed', output: ['all'] };
    expect(assembled([...begun, { type: 'response.completed', response }]).answer).toEqual(response);
  });

  test('with the error that ended it', () => {
    const error = { type: 'upstream_error', message: 'It broke.' };
    const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'He' }, finish_reason: null }] };
    expect(assembled([chunk, { error }]).answer).toMatchObject({
      choices: [{ message: { content: 'He' } }],
      error,
    });
    expect(assembled([{ type: 'error', error }]).answer).toEqual({ error });
    expect(assembled([]).answer).toBeUndefined();
  });
});

test('hostile events neither throw nor reserve memory', () => {
  const assembler = new AnswerAssembler();
  const hostile = [
    'data: {"choices":[{"index":1e9,"delta":{"__proto__":{"a":1},"content":"x"}}]}',
    'data: {"choices":[null,{"index":-1,"delta":null}]}',
    'data: {"type":"content_block_delta","index":"9","delta":{"text":3}}',
    'data: {"type":"response.output_text.delta","output_index":{}}',
    'data: [DONE]',
    'data: {"choices":',
  ];
  for (const line of hostile) assembler.push(`${line}\n\n`);
  expect(assembler.answer()).toBeDefined();
  expect(({} as { a?: number }).a).toBeUndefined();
});
