import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

import {
  called,
  calls,
  cases,
  type Format,
  type Json,
  models,
  type Provider,
  paths,
  user,
} from './client-request-cases.ts';
import { historyCases } from './history-cases.ts';

/** What clients send that is not as documented, but has one meaning only, and what providers get of it. */

let daemon: RunningDaemon;
let fake: Server;
let asked: string[] = [];
/** What a provider with the chat format answers. */
let answer: Json;
/** The same in the Responses format. */
let outputs: Json[];

const wires = ['chat', 'responses', 'messages'] as const;
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
  const upstreams = wires.map((wire) => ({ name: wire, base_url, models: ['m', 'gpt-5.6-terra'], wire }));
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

const rows = [...cases, ...historyCases].flatMap(({ cite, format, body, sent }) =>
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

// pipecat-ai/pipecat#4043, charmbracelet/crush#2913, danny-avila/LibreChat#14231, openai/openai-openapi#541, livekit/agents#7169
test.each([
  ['openai/gpt-5.6-terra', {}, 'responses'],
  ['openai/gpt-5.6-terra', { reasoning_effort: 'low' }, 'responses'],
  ['openai/gpt-5.5', { reasoning_effort: 'high' }, 'responses'],
  ['openai/gpt-5.4', { reasoning_effort: 'low' }, 'responses'],
  ['openai/gpt-5.4', {}, 'chat'],
  ['openai/gpt-5.6-terra', { reasoning_effort: 'none' }, 'chat'],
  ['openai/gpt-5.6-terra', { n: 2 }, 'chat'],
  ['openai/gpt-5.6-terra', { tools: [] }, 'chat'],
  ['openai/gpt-5.1', { reasoning_effort: 'high' }, 'chat'],
  ['openai/gpt-4.1', {}, 'chat'],
] as const)('functions of a model that reasons: %s with %j in the format %s', async (model, more, format) => {
  const name = 'get_weather';
  const tools = [{ type: 'function', function: { name, parameters: schema } }];
  outputs = [{ type: 'function_call', call_id: 'c', name, arguments: '{}' }];
  answer = calls({ ...called('c'), function: { name, arguments: '{}' } });
  const { status, body, sent } = await call('chat', 'openai', {
    messages: [user('a')],
    tools,
    model,
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(JSON.parse(sent)).toHaveProperty(format === 'chat' ? 'messages' : 'input');
  expect(body.choices).toMatchObject([{ message: { tool_calls: [{ function: { name } }] } }]);
});

test('a server that has such a model and only the chat format is asked in it', async () => {
  const name = 'get_weather';
  const tools = [{ type: 'function', function: { name, parameters: schema } }];
  answer = calls({ ...called('c'), function: { name, arguments: '{}' } });
  const more = { messages: [user('a')], tools, model: 'chat/gpt-5.6-terra' };
  const { status, body, sent } = await call('chat', 'chat', more);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(JSON.parse(sent)).toHaveProperty('messages');
});

const schema = { type: 'object', properties: {} };

// tontinton/maki#505, of GPT-5.6
test.each([
  ['chat', 'responses'],
  ['responses', 'chat'],
  ['messages', 'responses'],
  ['messages', 'chat'],
] as const)(
  'a name with the namespace of functions is that of the function: %s at %s',
  async (format, to) => {
    const name = 'get_weather';
    const written = `functions.${name}`;
    outputs = [{ type: 'function_call', call_id: 'c', name: written, arguments: '{}' }];
    answer = calls({ ...called('c'), function: { name: written, arguments: '{}' } });
    const tool =
      format === 'chat'
        ? { type: 'function', function: { name, parameters: schema } }
        : format === 'messages'
          ? { name, input_schema: schema }
          : { type: 'function', name, parameters: schema };
    const said = format === 'responses' ? { input: 'a' } : { messages: [user('a')] };
    const { body } = await call(format, to, { ...said, tools: [tool] });
    expect(JSON.stringify(body)).toContain(`"name":"${name}"`);
    expect(JSON.stringify(body)).not.toContain(written);
  },
);

// router-for-me/CLIProxyAPI#4106: of two namespaces with a tool of the name, none is meant
test.each([
  ['browser_navigate', { name: 'browser_navigate', namespace: 'mcp__playwright' }],
  ['mcp__playwright__browser_navigate', { name: 'browser_navigate', namespace: 'mcp__playwright' }],
  ['wait', { name: 'wait' }],
])('the tool %s is found without its namespace, if it is the only one', async (written, wanted) => {
  const of = (...names: string[]) => names.map((name) => ({ type: 'function', name, parameters: schema }));
  const tools = [
    { type: 'namespace', name: 'mcp__playwright', tools: of('browser_navigate', 'wait') },
    { type: 'namespace', name: 'mcp__clock', tools: of('wait') },
  ];
  answer = calls({ ...called('c'), function: { name: written, arguments: '{}' } });
  const { body } = await call('responses', 'chat', { input: 'a', tools });
  const [made] = body.output as Json[];
  expect(made).toMatchObject({ type: 'function_call', ...wanted });
  expect(made?.namespace).toBe((wanted as Json).namespace);
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

test.each([
  [{ input: [] }, 'input'],
  [{ input: [{ type: 'web_search_call' }] }, 'input[0].type'],
  [{ input: 'a', previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{}, 'messages'],
  [{ messages: [user('a')], tools: [{ type: 'function' }] }, 'tools[0].function'],
  [{ messages: [user('a')], max_tokens: 0 }, 'max_tokens'],
])('what has no meaning is refused by its name: %j', async (body, param) => {
  const reply = await call('chat', 'chat', body);
  expect(reply).toMatchObject({ status: 400, body: { error: { param } } });
});

test('Cursor gets an answer of the chat format, also as a stream', async () => {
  const { body } = await call('chat', 'responses', { input: 'a' });
  expect(body).toMatchObject({ object: 'chat.completion', choices: [{ message: { content: 'Hi.' } }] });
  const json = { model: 'google/gemini-2.5-pro', input: 'a', stream: true };
  const reply = await daemon.fetch('/v1/chat/completions', { json });
  expect(await reply.text()).toMatch(/chat\.completion\.chunk.*"content":"Hi\."[\s\S]*data: \[DONE\]/);
});
