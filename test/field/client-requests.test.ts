import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What clients send that is not as documented, but has one meaning only, and what providers get of it. */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
let asked: string[] = [];
/** What a provider with the chat format answers. */
let answer: Json;
/** The same in the Responses format. */
let outputs: Json[];

const wires = ['chat', 'responses', 'messages'] as const;
const models = {
  chat: 'chat/m',
  responses: 'responses/m',
  openai: 'openai/gpt-4.1',
  anthropic: 'anthropic/claude-sonnet-4-5',
  google: 'google/gemini-2.5-pro',
};
type Provider = keyof typeof models;
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' };
type Format = keyof typeof paths;

function answerTo(url: string): Json | Json[] {
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
  if (url.includes('generateContent') || url.includes('streamGenerateContent'))
    return [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }] }];
  if (url.endsWith('/responses')) {
    return { id: 'r', object: 'response', status: 'completed', model: 'm', output: outputs, usage };
  }
  if (url.endsWith('/messages')) {
    const content = [{ type: 'text', text: 'Hi.' }];
    return {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage,
    };
  }
  const choices = [{ index: 0, message: answer, finish_reason: answer.tool_calls ? 'tool_calls' : 'stop' }];
  return { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage };
}

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method === 'POST') asked.push(body);
    const given = answerTo(request.url?.split('?')[0] ?? '');
    const isStream = Array.isArray(given);
    reply.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    reply.end(isStream ? `data: ${JSON.stringify(given[0])}\n\n` : JSON.stringify(given));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstreams = wires.map((wire) => ({ name: wire, base_url, models: ['m'], wire }));
  const known = { openai: { base_url }, anthropic: { base_url }, google: { base_url } };
  daemon = await startDaemon({
    config: `upstreams: ${JSON.stringify(upstreams)}\nproviders: ${JSON.stringify(known)}\n`,
    env: {
      OPENAI_API_KEY: `sk-${'x'.repeat(30)}`,
      ANTHROPIC_API_KEY: `sk-ant-${'x'.repeat(30)}`,
      GEMINI_API_KEY: `AIza${'x'.repeat(35)}`,
    },
  });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(() => {
  asked = [];
  answer = { role: 'assistant', content: 'Hi.' };
  const text = { type: 'output_text', text: 'Hi.', annotations: [] };
  outputs = [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text] }];
});

async function call(format: Format, to: Provider, body: Json) {
  const limit = format === 'messages' ? { max_tokens: 99 } : format === 'responses' ? { store: false } : {};
  const json = { model: models[to], ...limit, ...body };
  const reply = await daemon.fetch(paths[format], { json });
  return { status: reply.status, body: (await reply.json()) as Json, sent: asked.at(-1) ?? '' };
}

const user = (content: unknown) => ({ role: 'user', content });
const chat = (...content: unknown[]) => ({ messages: [user(content)] });
const called = (id: string, args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
});
const calls = (...tool_calls: Json[]) => ({ role: 'assistant', content: null, tool_calls });
const output = (tool_call_id: string, content: unknown = 'done') => ({ role: 'tool', tool_call_id, content });

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

interface Case {
  cite: string;
  format: Format;
  body: Json;
  /** What each provider must get, as a part of its request. */
  sent: Partial<Record<Provider, unknown>>;
}

/** The texts in what a provider gets. */
const cases: Case[] = [
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
];

/** Whether a value has a part like this somewhere; members that are undefined must be missing. */
function has(value: unknown, part: unknown): boolean {
  if (isLike(value, part)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => has(each, part));
}

function isLike(value: unknown, part: unknown): boolean {
  const entries = Object.entries(part as Json);
  const absent = entries.flatMap(([name, each]) => (each === undefined ? name : []));
  if (typeof value !== 'object' || value === null || absent.some((name) => name in value)) return false;
  try {
    expect(value).toMatchObject(Object.fromEntries(entries.filter(([, each]) => each !== undefined)));
    return true;
  } catch {
    return false;
  }
}

/** Like `has`, for each element of a list and for texts. */
function expectIn(sent: string, part: unknown): void {
  const json: unknown = JSON.parse(sent);
  for (const each of Array.isArray(part) ? part : [part]) {
    const found =
      typeof each === 'string' ? JSON.stringify(json).includes(JSON.stringify(each)) : has(json, each);
    expect(found, `${JSON.stringify(each)} in ${sent.slice(0, 2000)}`).toBe(true);
  }
}

const rows = cases.flatMap(({ cite, format, body, sent }) =>
  Object.entries(sent).map(([to, part]) => ({ cite, format, body, to: to as Provider, part })),
);

test.each(rows)('$cite → $to', async ({ format, body, to, part }) => {
  const { status, body: reply, sent } = await call(format, to, body);
  expect(status, JSON.stringify(reply)).toBe(200);
  expectIn(sent, part);
});

// anthropics/claude-code#19770, thedotmack/claude-mem#360: names of MCP servers with a UUID
test.each([
  ['chat', 'chat'],
  ['responses', 'responses'],
  ['responses', 'openai'],
] as const)('a long name of a tool is shortened, and comes back as it was: %s at %s', async (wire, to) => {
  const name = 'mcp__8b383b1d-b46a-4b70-994c-c7c26b866287__check_domain_availability_and_price';
  const tool = { name, input_schema: { type: 'object', properties: {} } };
  const use = { type: 'tool_use', id: 't', name, input: {} };
  const result = { type: 'tool_result', tool_use_id: 't', content: 'x' };
  const messages = [user('a'), { role: 'assistant', content: [use] }, user([result])];
  const first = await call('messages', to, { messages, tools: [tool], tool_choice: { type: 'tool', name } });
  expect(first.sent).not.toContain(name);
  const short = /"name":"(mcp__[^"]{1,59})"/.exec(first.sent)?.[1] ?? '';
  expect(short).not.toBe('');
  expect(first.sent.split(short)).toHaveLength(4);
  answer = calls({ ...called('c'), function: { name: short, arguments: '{}' } });
  outputs = [{ type: 'function_call', call_id: 'c', name: short, arguments: '{}' }];
  const { body } = await call('messages', to, { messages, tools: [tool] });
  expect(body.content, wire).toMatchObject([{ type: 'tool_use', name }]);
});

// tashfeenahmed/freellmapi#309, microsoft/amplifier#354, 1jehuang/jcode#262: agents that find none assume a small limit
test('models have their limits where clients look for them', async () => {
  const reply = await daemon.fetch('/v1/models/anthropic/claude-sonnet-4-5');
  const { service, ...model } = (await reply.json()) as { service: Json } & Json;
  expect(model).toMatchObject({ context_length: expect.any(Number), max_output_tokens: 64_000 });
  expect(service).toMatchObject({ context_length: model.context_length, max_output_tokens: 64_000 });
  const unknown = await daemon.fetch('/v1/models/chat/m');
  expect(await unknown.json()).not.toHaveProperty('context_length');
});
