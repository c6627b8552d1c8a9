import { expect } from 'vitest';
import { type Case, called, calls, output, user } from './client-request-cases.ts';

/** Conversations as models and clients leave them, which providers refuse or misread, and what providers get of them. */

const png = 'iVBORw0KGgoAAAANSUhEUg';
const dataUrl = `data:image/png;base64,${png}`;
const picture = { type: 'image_url', image_url: { url: dataUrl } };
const inputPicture = { type: 'input_image', image_url: dataUrl };
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

const wrong = {
  type: 'object',
  required: null,
  properties: {
    a: { type: 'array' },
    b: { type: 'string', required: false, default: null },
    c: { type: 'object', properties: null },
    d: { type: ['array', 'null'], items: { type: 'string' } },
  },
};
const right = {
  type: 'object',
  required: undefined,
  properties: {
    a: { type: 'array', items: {} },
    b: { type: 'string', default: null },
    c: { type: 'object' },
    d: { type: ['array', 'null'], items: { type: 'string' } },
  },
};

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
  ...(['chat', 'responses'] as const).map(
    (format): Case => ({
      cite: 'decolua/9router#3864: a picture in a message of the assistant',
      format,
      body:
        format === 'chat'
          ? { messages: [user('a'), said([text('b'), picture]), user('c')] }
          : { input: [user('a'), said([{ type: 'output_text', text: 'b' }, inputPicture]), user('c')] },
      sent: {
        ...(format === 'chat'
          ? { responses: [said('b'), user([{ type: 'input_text' }, inputPicture])] }
          : { chat: [said('b'), user([{ type: 'text' }, picture, text('c')])] }),
        anthropic: [said([text('b')]), user([{ type: 'text' }, block, text('c')])],
      },
    }),
  ),
  {
    cite: 'Wei-Shaw/sub2api#6247, vllm-project/vllm#45273: the text of an answer, for servers that check its parts',
    format: 'chat',
    body: { messages: [user('a'), said([text('b')]), user('c')] },
    sent: {
      responses: { type: 'message', role: 'assistant', content: 'b' },
      openai: said([text('b')]),
    },
  },
  {
    cite: 'theopenco/llmgateway#3009, anchpop/tysm#53: the key of a cache',
    format: 'chat',
    body: { messages: [user('a')], prompt_cache_key: 'k', prompt_cache_retention: '24h' },
    sent: { responses: { prompt_cache_key: 'k', prompt_cache_retention: '24h' } },
  },
  {
    cite: 'azerozero/grob#420: the session of Claude Code, as the key of its cache',
    format: 'messages',
    body: { messages: [user('a')], metadata: { user_id: `user_${'1'.repeat(64)}_session_2` } },
    sent: { responses: { prompt_cache_key: expect.stringMatching(/^[0-9a-f]{32}$/) } },
  },
  {
    cite: 'maximhq/bifrost#4945, anthropics/anthropic-sdk-python#1581: what an MCP server answered to Anthropic',
    format: 'messages',
    body: {
      messages: [
        user('a'),
        said([
          { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'rain', server_name: 'weather', input: { a: 1 } },
          { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', content: [text('It rains.')] },
          text('Yes.'),
        ]),
        user('b'),
      ],
    },
    sent: {
      chat: [
        { id: 'mcptoolu_1', function: { name: 'weather__rain', arguments: '{"a":1}' } },
        output('mcptoolu_1', 'It rains.'),
      ],
      responses: [
        { type: 'function_call', name: 'weather__rain' },
        functionOutput('mcptoolu_1', 'It rains.'),
      ],
      anthropic: { type: 'mcp_tool_use', server_name: 'weather' },
    },
  },
  {
    cite: 'justlovemaki/AIClient2API#199, aws-samples/bedrock-access-gateway#239: calls whose tools are no longer declared',
    format: 'chat',
    body: { messages: [user('a'), calls(called('c')), output('c'), user('Sum up.')] },
    sent: {
      anthropic: {
        tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
        tool_choice: { type: 'none' },
      },
      chat: { tools: undefined, messages: expect.anything() },
    },
  },
  ...(['base64', 'url'] as const).map(
    (type): Case => ({
      cite: 'openclaw/openclaw#18219: a data: URL in place of base64, or of an address',
      format: 'messages',
      body: {
        messages: [
          user([
            {
              type: 'image',
              source: { type, media_type: 'image/jpeg', [type === 'url' ? 'url' : 'data']: dataUrl },
            },
          ]),
        ],
      },
      sent: { chat: picture, responses: inputPicture, anthropic: block },
    }),
  ),
  {
    cite: 'the context of a document',
    format: 'messages',
    body: {
      messages: [
        user([
          {
            type: 'document',
            title: 'Report',
            context: 'Of last year.',
            source: { type: 'text', media_type: 'text/plain', data: 'It rained.' },
          },
        ]),
      ],
    },
    sent: { chat: user('Report\n\nOf last year.\n\nIt rained.') },
  },
  {
    cite: 'MarkusPfundstein/mcp-gsuite#48, Automattic/wordpress-mcp#103: schemas that are none',
    format: 'chat',
    body: {
      messages: [user('a')],
      tools: [{ type: 'function', function: { name: 'f', parameters: wrong } }],
    },
    sent: { responses: right, anthropic: right, google: right },
  },
];

/** What two calls with one id, or with none, get as their outputs. */
function pairOf(id: string, write: (id: string, content: string) => unknown): unknown[] {
  return id === '' ? [write('call_2', '1'), write('call_3', '2')] : [write(id, '1'), write(`${id}_2`, '2')];
}
