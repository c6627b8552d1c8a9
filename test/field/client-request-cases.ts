import { expect } from 'vitest';

/** What clients send that is not as documented, but has one meaning only. */

export type Json = Record<string, unknown>;

export const models = {
  chat: 'chat/m',
  responses: 'responses/m',
  openai: 'openai/gpt-4.1',
  anthropic: 'anthropic/claude-sonnet-4-5',
  google: 'google/gemini-2.5-pro',
};
export type Provider = keyof typeof models;
export const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' };
export type Format = keyof typeof paths;

export const user = (content: unknown) => ({ role: 'user', content });
const chat = (...content: unknown[]) => ({ messages: [user(content)] });
export const called = (id: string, args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
});
export const calls = (...tool_calls: Json[]) => ({ role: 'assistant', content: null, tool_calls });
export const output = (tool_call_id: string, content: unknown = 'done') => ({
  role: 'tool',
  tool_call_id,
  content,
});

const text = (value: string) => ({ type: 'text', text: value });

const jpeg = '/9j/4AAQSkZJRgABAQEASABIAAD';
const png = 'iVBORw0KGgoAAAANSUhEUg';
const webp = 'UklGRiQAAABXRUJQVlA4';
const pdf = 'JVBERi0xLjQKJeLjz9MK';
const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const source = (media_type: string, data: string) => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});
const file = (of: Json) => ({ type: 'file', file: of });
const address = 'https://files.example/a.pdf';

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const merged = {
  type: 'object',
  properties: { a: { type: 'string' }, b: {}, c: {} },
  required: ['b'],
};

export interface Case {
  cite: string;
  format: Format;
  body: Json;
  /** What each provider must get, as a part of its request. */
  sent: Partial<Record<Provider, unknown>>;
}

/** Requests, and what providers get of them. */
export const cases: Case[] = [
  {
    cite: 'anthropics/claude-code#1939, anomalyco/opencode#13985: half a character',
    format: 'chat',
    body: { messages: [user('a\ud83d b\udc00 \ud83d\ude00 \\ud83d')] },
    sent: Object.fromEntries(
      Object.keys(models).map((name) => [name, 'a\ufffd b\ufffd \ud83d\ude00 \\ud83d']),
    ),
  },
  {
    cite: 'anthropics/claude-code#60394: half a character, to Anthropic as it is',
    format: 'messages',
    body: { messages: [user('a\ud83d b')] },
    sent: { anthropic: 'a\ufffd b' },
  },
  {
    cite: 'BerriAI/litellm#24900, home-assistant/core#167208: an image with the type of another',
    format: 'chat',
    body: chat(image(`data:image/png;base64,${jpeg}`)),
    sent: {
      chat: `data:image/jpeg;base64,${jpeg}`,
      responses: `data:image/jpeg;base64,${jpeg}`,
      anthropic: source('image/jpeg', jpeg),
      google: { inlineData: { mimeType: 'image/jpeg', data: jpeg } },
    },
  },
  {
    cite: 'Xerxes-2/clewdr#121: parameters, and no type',
    format: 'chat',
    body: chat(
      image(`data:application/octet-stream;name=a.png;base64,${png}`),
      image(`data:;base64,${webp}`),
    ),
    sent: {
      anthropic: [source('image/png', png), source('image/webp', webp)],
      google: [{ inlineData: { mimeType: 'image/png' } }, { inlineData: { mimeType: 'image/webp' } }],
    },
  },
  {
    cite: 'anthropics/claude-code#11975: a JPEG that is named PNG, from Claude Code',
    format: 'messages',
    body: { messages: [user([source('image/png', jpeg)])] },
    sent: { anthropic: source('image/jpeg', jpeg), chat: `data:image/jpeg;base64,${jpeg}` },
  },
  {
    cite: 'an image whose URL is the whole of it',
    format: 'chat',
    body: chat({ type: 'image_url', image_url: 'https://e.example/a.png' }),
    sent: { openai: { type: 'image_url', image_url: { url: 'https://e.example/a.png' } } },
  },
  {
    cite: 'iiitl/student-hub#247: a PDF as an image',
    format: 'chat',
    body: chat(image(`data:application/pdf;base64,${pdf}`)),
    sent: {
      responses: { type: 'input_file', file_data: `data:application/pdf;base64,${pdf}` },
      anthropic: { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
    },
  },
  ...[{ file_url: address }, { file_data: address }].map(
    (of): Case => ({
      cite: 'openai/openai-go#588, BoundaryML/baml#3223: a file by its address',
      format: 'chat',
      body: chat(file({ ...of, filename: 'a.pdf' })),
      sent: {
        responses: { type: 'input_file', file_url: address },
        anthropic: { type: 'document', source: { type: 'url', url: address } },
        google: { fileData: { fileUri: address } },
      },
    }),
  ),
  {
    cite: 'a file without a name, which the Responses format requires',
    format: 'chat',
    body: chat(file({ file_data: pdf })),
    sent: {
      responses: {
        type: 'input_file',
        filename: 'document.pdf',
        file_data: `data:application/pdf;base64,${pdf}`,
      },
    },
  },
  {
    cite: 'archestra-ai/archestra#7375: Cursor’s empty list beside calls',
    format: 'chat',
    body: { messages: [user('a'), { ...calls(called('c')), content: [] }, output('c')] },
    sent: { chat: calls(called('c')), openai: calls(called('c')) },
  },
  {
    cite: 'letta-ai/letta#3308, microsoft/vscode#299295: a call without an output',
    format: 'chat',
    body: { messages: [user('a'), calls(called('c'), called('d')), output('d'), user('b')] },
    sent: {
      responses: [
        { type: 'function_call_output', call_id: 'c', output: expect.stringContaining('interrupted') },
      ],
      anthropic: { type: 'tool_result', tool_use_id: 'c', is_error: true },
      google: [{ functionResponse: { id: 'c' } }, { functionResponse: { id: 'd' } }],
    },
  },
  {
    cite: 'AstrBotDevs/AstrBot#8349, arbs-io/github-copilot-llm-gateway#86: an output without its call',
    format: 'chat',
    body: { messages: [output('gone', 'It rains.'), user('b')] },
    sent: {
      responses: { role: 'user', content: [{ text: 'Output of a tool:' }, { text: 'It rains.' }] },
      anthropic: {
        role: 'user',
        content: [{ text: 'Output of a tool:' }, { text: 'It rains.' }, { text: 'b' }],
      },
    },
  },
  {
    cite: 'nspady/google-calendar-mcp#39, MemPalace/mempalace#1711: alternatives at the root of a schema',
    format: 'messages',
    body: {
      messages: [user('a')],
      tools: [
        {
          name: 'f',
          input_schema: {
            type: 'object',
            properties: { a: { type: 'string' }, b: {} },
            required: ['b'],
            anyOf: [{ required: ['a'] }, { properties: { c: {} } }],
          },
        },
      ],
    },
    sent: {
      chat: { parameters: merged },
      openai: { name: 'f', parameters: merged },
      google: { parametersJsonSchema: { anyOf: [{}, {}] } },
    },
  },
  ...[{ a: 1 }, null].map(
    (args): Case => ({
      cite: 'bytedance/deer-flow#4445, isair/jarvis#560: arguments that are an object, or missing',
      format: 'chat',
      body: { messages: [user('a'), calls(called('c', args)), output('c')] },
      sent: {
        openai: { function: { arguments: args === null ? '{}' : '{"a":1}' } },
        responses: { type: 'function_call', arguments: args === null ? '{}' : '{"a":1}' },
        anthropic: { type: 'tool_use', input: args ?? {} },
      },
    }),
  ),
  {
    cite: 'bytedance/deer-flow#4445: the same, in the Responses format',
    format: 'responses',
    body: {
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: { a: 1 } },
        { type: 'function_call_output', call_id: 'c', output: 'b' },
        { role: 'assistant', content: null },
        user('c'),
      ],
    },
    sent: { chat: { function: { arguments: '{"a":1}' } }, openai: { arguments: '{"a":1}' } },
  },
  ...[
    ['{"a":1}', { a: 1 }],
    ['', {}],
    [null, {}],
    ['git status', { value: 'git status' }],
  ].map(
    ([input, object]): Case => ({
      cite: 'anthropics/claude-code#6696, #6749, RightNow-AI/openfang#774: an input that is text, or missing',
      format: 'messages',
      body: {
        messages: [
          user('a'),
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input }] },
          user([{ type: 'tool_result', tool_use_id: 't', content: 'b' }]),
        ],
      },
      sent: {
        anthropic: { type: 'tool_use', input: object },
        google: { functionCall: { name: 'f', args: object } },
      },
    }),
  ),
  {
    cite: 'eternalai-org/eternal-zoo#14: no limit, as Open WebUI sends it',
    format: 'chat',
    body: { messages: [user('a')], max_tokens: -1 },
    sent: { openai: { model: 'gpt-4.1', max_tokens: undefined }, anthropic: { max_tokens: 64_000 } },
  },
  {
    cite: 'a choice among no tools',
    format: 'chat',
    body: { messages: [user('a')], tools: null, tool_choice: 'auto', parallel_tool_calls: true },
    sent: { openai: { model: 'gpt-4.1', tool_choice: undefined, tools: undefined } },
  },
  ...[
    { type: 'function', name: 'f', description: 'd', parameters: schema },
    { name: 'f', description: 'd', input_schema: schema },
    { type: 'function', function: { name: 'f', description: 'd', parameters: schema } },
  ].flatMap((tool): Case[] => {
    const cite =
      'icebear0828/codex-proxy#507, lbjlaq/Antigravity-Manager#506: a tool as another format has it';
    const own = { name: 'f', description: 'd' };
    const sent: Case['sent'] = {
      chat: { type: 'function', function: { ...own, parameters: schema } },
      responses: { type: 'function', ...own, parameters: schema },
      anthropic: { ...own, input_schema: schema },
      google: own,
    };
    const messages = [user('a')];
    const isOfMessages = 'input_schema' in tool;
    return [
      { cite, format: 'chat', body: { messages, tools: [tool], tool_choice: { type: 'auto' } }, sent },
      ...(isOfMessages
        ? []
        : [{ cite, format: 'responses' as const, body: { input: 'a', tools: [tool] }, sent }]),
      { cite, format: 'messages', body: { messages, tools: [tool] }, sent },
    ];
  }),
  {
    cite: 'BerriAI/litellm#34029, archestra-ai/archestra#7375: Cursor’s patch tool among functions of the chat format',
    format: 'chat',
    body: {
      messages: [user('a')],
      tools: [
        { type: 'function', function: { name: 'f', parameters: schema } },
        { type: 'custom', name: 'ApplyPatch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      ],
      tool_choice: { type: 'custom', name: 'ApplyPatch' },
    },
    sent: {
      openai: [
        { name: 'ApplyPatch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        { tool_choice: { type: 'custom', custom: { name: 'ApplyPatch' } } },
      ],
      responses: { type: 'custom', name: 'ApplyPatch', format: { type: 'grammar', syntax: 'lark' } },
      anthropic: [
        { name: 'ApplyPatch', input_schema: {} },
        { tool_choice: { type: 'tool', name: 'ApplyPatch' } },
      ],
    },
  },
  ...[
    [
      { type: 'input_text', text: 'b' },
      { type: 'input_image', image_url: address, detail: 'low' },
      { type: 'input_file', file_data: pdf, filename: 'a.pdf' },
    ],
    [
      { type: 'text', text: 'b' },
      { type: 'image_url', image_url: { url: address, detail: 'low' } },
      file({ file_data: pdf, filename: 'a.pdf' }),
    ],
    [
      { type: 'text', text: 'b' },
      { type: 'image', source: { type: 'url', url: address } },
      {
        type: 'document',
        title: 'a.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
      },
    ],
  ].flatMap((parts): Case[] => {
    const cite = 'LuthienResearch/luthien-proxy#108, Wei-Shaw/sub2api#5485: parts as another format has them';
    const sent: Case['sent'] = {
      openai: ['b', { image_url: expect.anything() }, { filename: 'a.pdf' }],
      responses: [
        { type: 'input_text', text: 'b' },
        { type: 'input_image', image_url: address },
        { type: 'input_file', filename: 'a.pdf' },
      ],
      anthropic: [
        { type: 'text', text: 'b' },
        { type: 'image', source: { type: 'url', url: address } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
      ],
      google: [{ text: 'b' }, { fileData: { fileUri: address } }, { inlineData: { data: pdf } }],
    };
    const messages = [user(parts)];
    const own = { type: 'image_url', image_url: { url: address } };
    return [
      {
        cite,
        format: 'chat',
        body: { messages },
        sent: { ...sent, openai: ['b', own, { filename: 'a.pdf' }] },
      },
      { cite, format: 'responses', body: { input: messages }, sent },
      { cite, format: 'messages', body: { messages }, sent },
    ];
  }),
  {
    cite: 'router-for-me/CLIProxyAPI#658, icebear0828/codex-proxy#507, Soju06/codex-lb#833: Cursor’s agent mode',
    format: 'chat',
    body: {
      instructions: 'Be brief.',
      input: [
        { role: 'system', content: 'You are an agent.' },
        user([{ type: 'input_text', text: 'a' }]),
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
        { type: 'custom_tool_call', call_id: 'd', name: 'ApplyPatch', input: '*** Begin' },
        { type: 'function_call_output', call_id: 'c', output: 'b' },
        { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'e' }] },
      ],
      tools: [
        { type: 'function', name: 'f', parameters: schema },
        { type: 'custom', name: 'ApplyPatch' },
      ],
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'n', schema }, verbosity: 'low' },
      max_output_tokens: 99,
      include: ['reasoning.encrypted_content'],
    },
    sent: {
      chat: [
        'Be brief.\n\nYou are an agent.',
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        {
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'd', type: 'custom', custom: { name: 'ApplyPatch', input: '*** Begin' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'b' },
        { role: 'tool', tool_call_id: 'd', content: 'e' },
        { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } },
        { reasoning_effort: 'low', max_tokens: undefined, max_completion_tokens: 99, include: undefined },
      ],
      responses: [
        { type: 'custom_tool_call', call_id: 'd' },
        { reasoning: { effort: 'low' }, text: { verbosity: 'low' }, max_output_tokens: 99 },
      ],
      anthropic: [
        { type: 'tool_use', id: 'c' },
        { type: 'tool_result', tool_use_id: 'd' },
      ],
      google: [{ functionCall: { name: 'f' } }],
    },
  },
  ...[
    { type: 'json_schema', json_schema: { name: 'n', schema } },
    { type: 'json_schema', json_schema: { schema } },
    { type: 'json_schema', schema },
    { type: 'json_schema', name: 'n', schema },
  ].flatMap((of): Case[] => {
    const cite = 'a schema in another form, or without a name';
    const sent: Case['sent'] = {
      chat: { response_format: { type: 'json_schema', json_schema: { name: expect.anything(), schema } } },
      responses: { text: { format: { type: 'json_schema', name: expect.anything(), schema } } },
      google: { responseJsonSchema: schema },
    };
    return [
      { cite, format: 'chat', body: { messages: [user('a')], response_format: of }, sent },
      { cite, format: 'responses', body: { input: 'a', text: { format: of } }, sent },
    ];
  }),
  {
    cite: 'a schema beside json_object, as llama.cpp and Together have it',
    format: 'chat',
    body: { messages: [user('a')], response_format: { type: 'json_object', schema } },
    sent: {
      chat: { response_format: { type: 'json_object', schema } },
      responses: { text: { format: { type: 'json_schema', schema } } },
      google: { responseJsonSchema: schema },
    },
  },
  {
    cite: 'Gitlawb/openclaude#806, CherryHQ/cherry-studio#3474: the output of a tool as a list of texts',
    format: 'chat',
    body: {
      messages: [user('a'), calls(called('c')), output('c', [text('b'), text('d')])],
    },
    sent: {
      chat: { role: 'tool', content: 'b\n\nd' },
      openai: { role: 'tool', content: [text('b'), text('d')] },
    },
  },
];
