import { type Case, called, calls, output, user } from './client-request-cases.ts';

/** Conversations as models and clients leave them, which providers refuse or misread, and what providers get of them. */

const png = 'iVBORw0KGgoAAAANSUhEUg';
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
const text = (value: string) => ({ type: 'text', text: value });
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'f', input });
const result = (tool_use_id: string, content: unknown) => ({ type: 'tool_result', tool_use_id, content });
const said = (content: unknown) => ({ role: 'assistant', content });
const functionCall = (call_id: string, args = '{}') => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: args,
});
const functionOutput = (call_id: string, of: unknown) => ({
  type: 'function_call_output',
  call_id,
  output: of,
});

const cut = '{"city": "Tórs';
const mended = { value: cut };
const long = '{"id":2512292042121000001,"of":[9007199254740993]}';

export const historyCases: Case[] = [
  ...['f', ''].map(
    (id): Case => ({
      cite: 'can1357/oh-my-pi#2055, openclaw/openclaw#47136: two calls with one id, or with none',
      format: 'chat',
      body: {
        messages: [
          user('a'),
          calls(called(id, '{"a":1}'), called(id, '{"a":2}')),
          output(id, '1'),
          output(id, '2'),
        ],
      },
      sent: {
        chat: pairOf(id, (each, content) => ({ role: 'tool', tool_call_id: each, content })),
        openai: pairOf(id, (each, content) => ({ role: 'tool', tool_call_id: each, content })),
        responses: pairOf(id, functionOutput),
        anthropic: pairOf(id, (each, content) => result(each, [text(content)])),
        google: pairOf(id, (each, content) => ({
          functionResponse: { id: each, response: { output: content } },
        })),
      },
    }),
  ),
  {
    cite: 'NousResearch/hermes-agent#11722: an id of an earlier turn, whose call has no output',
    format: 'responses',
    body: {
      input: [
        functionCall('f', '{"a":1}'),
        user('b'),
        functionCall('f', '{"a":2}'),
        functionOutput('f', 'done'),
      ],
    },
    sent: {
      chat: [
        { id: 'f', function: { arguments: '{"a":1}' } },
        { id: 'f_2', function: { arguments: '{"a":2}' } },
        { tool_call_id: 'f_2', content: 'done' },
      ],
      anthropic: [{ tool_use_id: 'f', is_error: true }, result('f_2', [text('done')])],
    },
  },
  {
    cite: 'ggml-org/llama.cpp#25510, vllm-project/vllm#47761: a call that was cut',
    format: 'chat',
    body: { messages: [user('a'), calls(called('c', cut)), output('c')] },
    sent: {
      chat: { function: { arguments: JSON.stringify(mended) } },
      responses: functionCall('c', JSON.stringify(mended)),
      anthropic: use('c', mended),
    },
  },
  {
    cite: 'local-inference-lab/vllm#684: the same, in the Responses format',
    format: 'responses',
    body: { input: [functionCall('c', cut), functionOutput('c', 'b')] },
    sent: {
      chat: { function: { arguments: JSON.stringify(mended) } },
      responses: functionCall('c', JSON.stringify(mended)),
    },
  },
  {
    cite: 'earendil-works/pi#8943: numbers with more digits than JavaScript keeps',
    format: 'chat',
    body: { messages: [user('a'), calls(called('c', long)), output('c')] },
    sent: { chat: { function: { arguments: long } }, responses: functionCall('c', long) },
  },
  {
    cite: 'automazeio/vibeproxy#411: calls and outputs of Cursor’s Claude models',
    format: 'chat',
    body: {
      messages: [
        user([text('a')]),
        said([text('I look.'), use('t', { a: 1 }), use('u')]),
        user([result('t', 'b'), result('u', [text('c'), block]), text('d')]),
      ],
    },
    sent: {
      chat: [
        { role: 'assistant', tool_calls: [called('t', '{"a":1}'), called('u')] },
        output('t', 'b'),
        output('u', 'c'),
        user([picture, text('d')]),
      ],
      openai: [output('t', 'b'), output('u', [text('c')]), user([picture]), user([text('d')])],
      responses: [functionCall('t', '{"a":1}'), functionOutput('t', 'b')],
      anthropic: user([result('t', [text('b')]), result('u', [text('c'), block]), text('d')]),
    },
  },
  {
    cite: 'langchain-ai/langchainjs#9972: blocks beside the calls that they are',
    format: 'chat',
    body: {
      messages: [
        user('a'),
        { ...calls(called('t')), content: [text('I look.'), use('t')] },
        output('t', 'b'),
      ],
    },
    sent: {
      chat: { role: 'assistant', content: [text('I look.')], tool_calls: [called('t')] },
      anthropic: said([text('I look.'), use('t')]),
    },
  },
  {
    cite: 'CommandCodeAI/command-code#795, experientiallabs/experiential#961, Prism-Shadow/agenthub#211: pictures of tools',
    format: 'chat',
    body: {
      messages: [
        user('a'),
        calls(called('c'), called('d')),
        output('c', [text('b'), picture]),
        output('d', [picture]),
        user('e'),
      ],
    },
    sent: {
      chat: [output('c', 'b'), output('d', 'See the next message.'), user([picture, picture, text('e')])],
      openai: [output('c', [text('b')]), user([picture, picture]), user('e')],
      anthropic: user([result('c', [text('b'), block]), result('d', [block]), text('e')]),
    },
  },
];

/** What two calls with one id, or with none, get as their outputs. */
function pairOf(id: string, write: (id: string, content: string) => unknown): unknown[] {
  return id === '' ? [write('call_2', '1'), write('call_3', '2')] : [write(id, '1'), write(`${id}_2`, '2')];
}
