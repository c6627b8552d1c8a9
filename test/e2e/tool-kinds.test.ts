import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { backendsForThisFile, type ProviderName } from '../support/model-backends.ts';

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();
const { daemon } = backends;

/** The tools of a coding agent, as Codex sends them. */
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
};
const tools = [
  { type: 'function', name: 'exec_command', parameters: { type: 'object', properties: {} }, strict: false },
  {
    type: 'namespace',
    name: 'mcp__weather',
    description: 'Weather stations.',
    tools: [
      {
        type: 'function',
        name: 'lookup',
        description: 'Looks up the weather.',
        strict: false,
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ],
  },
  patch,
  { type: 'web_search', external_web_access: true },
];
const plainNames = ['exec_command', 'mcp__weather__lookup', 'apply_patch'];

async function respond(json: Json) {
  const answer = await daemon.fetch('/v1/responses', { json });
  const body = (await answer.json()) as Json & { id: string; output: Json[]; service: Json; error: Json };
  return { status: answer.status, headers: answer.headers, body };
}

async function streamed(json: Json): Promise<Json[]> {
  const answer = await daemon.fetch('/v1/responses', { json: { ...json, stream: true } });
  return [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)].map(([, text = '']) => JSON.parse(text));
}

/** What each provider was told of the tools. */
const sentTools: Record<string, (body: Json) => unknown> = {
  anthropic: ({ tools }) => (tools as Json[]).map(({ name }) => name),
  google: ({ tools }) =>
    (tools as { functionDeclarations: Json[] }[])[0]?.functionDeclarations.map(({ name }) => name),
  'chat-only': ({ tools }) => (tools as { function: Json }[]).map((tool) => tool.function.name),
};
const translated = Object.keys(sentTools) as ProviderName[];

describe.each(translated)('through %s, an agent', (backend) => {
  const weatherCall = { name: 'mcp__weather__lookup', input: { city: 'Oslo' } };
  const patchCall = { name: 'apply_patch', input: { input: '*** Begin Patch\n"x"' } };

  test('has its MCP server’s tools called by name and namespace', async () => {
    const model = backends.script(backend, { calls: [weatherCall] });
    const { headers, body } = await respond({ model, tools, input: 'Weather in Oslo?' });
    expect(sentTools[backend]?.(backends.lastBody(backend))).toEqual(plainNames);
    expect(JSON.stringify(backends.lastBody(backend))).toContain('Weather stations.');
    const call = body.output.find(({ type }) => type === 'function_call');
    expect(call).toMatchObject({
      name: 'lookup',
      namespace: 'mcp__weather',
      arguments: '{"city":"Oslo"}',
      status: 'completed',
    });
    expect(headers.get('x-service-dropped')).toBe('tools[3]');
    expect(body.service.dropped).toEqual([{ param: 'tools[3]', type: 'web_search' }]);
    const trace = await daemon.fetch(`/v1/traces/${headers.get('x-request-id')}`, {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(((await trace.json()) as Json).dropped).toEqual(body.service.dropped);

    backends.script(backend, { text: 'Rain.' });
    const output = { type: 'function_call_output', call_id: call?.call_id, output: 'rain' };
    const next = await respond({ model, tools, previous_response_id: body.id, input: [output] });
    expect(next.status).toBe(200);
    const sent = JSON.stringify(backends.lastBody(backend));
    expect(sent.match(/"mcp__weather__lookup"/g)?.length).toBeGreaterThan(1);
    expect(sent).not.toContain('"lookup"');
  });

  test('gets such a call in a stream, too', async () => {
    const model = backends.script(backend, { calls: [weatherCall] });
    const events = await streamed({ model, tools, input: 'Weather in Oslo?' });
    const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
    const added = events.flatMap(({ type, item }) => (type === 'response.output_item.added' ? [item] : []));
    const named = { type: 'function_call', name: 'lookup', namespace: 'mcp__weather' };
    expect([added.at(-1), items.at(-1)]).toMatchObject([named, named]);
    expect(events.at(-1)).toMatchObject({
      response: { service: { dropped: [{ param: 'tools[3]', type: 'web_search' }] } },
    });
  });

  test('gets a call of a custom tool as text', async () => {
    const model = backends.script(backend, { calls: [patchCall] }, { calls: [patchCall] });
    const { body } = await respond({ model, tools, input: 'Fix it.' });
    const call = body.output.find(({ type }) => type === 'custom_tool_call');
    expect(call).toMatchObject({
      id: expect.stringMatching(/^ctc_/),
      name: 'apply_patch',
      input: patchCall.input.input,
      status: 'completed',
    });
    const events = await streamed({ model, tools, input: 'Fix it.' });
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(patchCall.input.input);
    expect(events.find(({ type }) => type === 'response.custom_tool_call_input.done')).toMatchObject({
      input: patchCall.input.input,
      item_id: deltas[0]?.item_id,
    });
    const { output } = (events.at(-1) as { response: { output: Json[] } }).response;
    expect(output.at(-1)).toMatchObject({ type: 'custom_tool_call', input: patchCall.input.input });
  });

  test('keeps its edits when it changes to this model', async () => {
    const model = backends.script(backend, { text: 'Fixed.' });
    const { status, headers } = await respond({
      model,
      tools: [patch],
      tool_choice: { type: 'custom', name: 'apply_patch' },
      input: [
        { role: 'user', content: 'Fix it.' },
        {
          type: 'custom_tool_call',
          call_id: 'call_1',
          name: 'apply_patch',
          input: '*** Begin Patch\n+fixed',
        },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Exit code: 0' },
        { role: 'user', content: 'Once more.' },
      ],
    });
    expect([status, headers.get('x-service-dropped')]).toEqual([200, null]);
    const sent = JSON.stringify(backends.lastBody(backend));
    expect(sent).toContain('+fixed');
    expect(sent).toContain('Exit code: 0');
    // The choice is forced: it names the tool once more.
    expect(sent.match(/apply_patch"/g)?.length).toBe(backend === 'google' ? 4 : 3);
  });

  test('may limit the choice to one MCP server', async () => {
    const model = backends.script(backend, { calls: [weatherCall] });
    const allowed = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'namespace', name: 'mcp__weather' }],
    };
    const { status } = await respond({ model, tools, tool_choice: allowed, input: 'Weather?' });
    expect(status).toBe(200);
    expect(sentTools[backend]?.(backends.lastBody(backend))).toEqual(['mcp__weather__lookup']);
  });
});

describe('a request of Codex 0.169 with an MCP server, as recorded', () => {
  const recorded = JSON.parse(readFileSync('test/fixtures/codex-request.json', 'utf8')) as Json;
  const lookup = { name: 'mcp__weather__lookup', input: { city: 'Oslo' } };

  test.each(translated)('gets a call of the server’s tool from %s', async (backend) => {
    const model = backends.script(backend, { calls: [lookup] });
    const events = await streamed({ ...recorded, model });
    const names = sentTools[backend]?.(backends.lastBody(backend)) as string[];
    expect(names).toEqual(expect.arrayContaining(['exec_command', 'mcp__weather__list_cities', lookup.name]));
    expect(names).toContain('multi_agent_v1__spawn_agent');
    expect(new Set(names).size).toBe(names.length);
    const { response } = events.at(-1) as { response: { status: string; output: Json[]; service: Json } };
    expect(response.status).toBe('completed');
    expect(response.output.at(-1)).toMatchObject({ name: 'lookup', namespace: 'mcp__weather' });
    // It sends a web search with every request.
    expect(response.service.dropped).toEqual([{ param: expect.any(String), type: 'web_search' }]);
  });
});

test('OpenAI gets the tools and calls of an agent as they are', async () => {
  const model = backends.script('openai', { text: 'Done.' });
  const input = [
    { type: 'message', role: 'user', content: 'Fix it.' },
    { type: 'function_call', call_id: 'c1', name: 'lookup', namespace: 'mcp__weather', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'Done.' },
  ];
  const { headers, body } = await respond({ model, tools, input });
  const sent = backends.lastBody('openai');
  expect(sent.tools).toEqual(tools);
  expect((sent.input as Json[]).slice(1)).toEqual(input.slice(1));
  expect(headers.get('x-service-dropped')).toBeNull();
  expect(body.service.dropped).toBeUndefined();
});

describe('a custom tool of the chat format', () => {
  const { name, description } = patch;
  const grammar = { syntax: 'lark', definition: 'start: "x"' };
  const custom = {
    type: 'custom',
    custom: { name, description, format: { type: 'grammar', grammar } },
  };
  const call = { name, input: { input: '*** Begin' } };
  const chat = async (json: Json) => await daemon.fetch('/v1/chat/completions', { json });

  test.each(['anthropic', 'google'] as const)('is called by %s', async (backend) => {
    const model = backends.script(backend, { calls: [call] }, { calls: [call] });
    const messages = [{ role: 'user', content: 'Fix it.' }];
    const whole = (await (await chat({ model, tools: [custom], messages })).json()) as {
      choices: { message: { tool_calls: Json[] }; finish_reason: string }[];
    };
    expect(whole.choices[0]).toMatchObject({
      message: { tool_calls: [{ type: 'custom', custom: { name, input: '*** Begin' } }] },
      finish_reason: 'tool_calls',
    });
    const text = await (await chat({ model, tools: [custom], messages, stream: true })).text();
    const pieces = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(
      ([, json = '']) => JSON.parse(json).choices[0]?.delta.tool_calls ?? [],
    );
    expect(pieces[0]).toMatchObject({ index: 0, type: 'custom', custom: { name, input: '' } });
    expect(pieces.map((piece) => piece.custom.input).join('')).toBe('*** Begin');
  });

  test('is a custom tool for a server with the Responses format', async () => {
    const model = backends.script('responses-only', { text: 'Done.' });
    const tool_calls = [{ id: 'c1', type: 'custom', custom: { name, input: '*** Begin' } }];
    await chat({
      model,
      tools: [custom],
      tool_choice: { type: 'custom', custom: { name } },
      messages: [
        { role: 'user', content: 'Fix it.' },
        { role: 'assistant', tool_calls },
        { role: 'tool', tool_call_id: 'c1', content: 'Done.' },
      ],
    });
    expect(backends.lastBody('responses-only')).toMatchObject({
      tools: [{ type: 'custom', name, description, format: { type: 'grammar', ...grammar } }],
      tool_choice: { type: 'custom', name },
      input: [
        {},
        { type: 'custom_tool_call', call_id: 'c1', name, input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done.' },
      ],
    });
  });
});

test.each([
  [{ tool_choice: { type: 'custom', name: 'gone' } }, 'tool_choice.name'],
  [{ tool_choice: { type: 'function', name: 'lookup' } }, 'tool_choice.name'],
  [{ tools: [{ type: 'namespace', tools: [] }] }, 'tools[0].name'],
  [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] }, 'tools[0].tools[0].name'],
])('%j is refused at %s', async (members, param) => {
  const { status, body } = await respond({ model: 'sim/echo', tools, input: 'Hi.', ...members });
  expect([status, body.error.param]).toEqual([400, param]);
});

test('Gemini makes one call where the caller does not accept several', async () => {
  const calls = ['Oslo', 'Rome', 'Lima'].map((city) => ({ name: 'mcp__weather__lookup', input: { city } }));
  const model = backends.script('google', { calls }, { calls });
  const cities = async (json: Json) => {
    const { body } = await respond({ model, tools, input: 'Weather?', ...json });
    return body.output.flatMap(({ type, arguments: text }) => (type === 'function_call' ? [text] : []));
  };
  expect(await cities({ parallel_tool_calls: false })).toEqual(['{"city":"Oslo"}']);
  expect(await cities({})).toHaveLength(3);
});
