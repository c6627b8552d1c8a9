import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What Codex and other clients of the Responses format send, to upstreams of each format. */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
const asked: Json[] = [];
/** What the model answers next: calls of functions, or a text. */
let calls: { name: string; arguments: string }[] = [];
/** What an upstream with the Responses format answers next. */
let output: Json[] = [];

const text = { type: 'message', id: 'm', role: 'assistant', status: 'completed' };
const said = { ...text, content: [{ type: 'output_text', text: 'Hello.', annotations: [] }] };

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const json = JSON.parse(body || '{}') as Json;
    asked.push(json);
    if (request.url?.endsWith('/responses')) {
      const usage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 };
      const response = { id: 'resp_up', object: 'response', status: 'completed', model: 'm', output, usage };
      reply.writeHead(200, { 'content-type': json.stream ? 'text/event-stream' : 'application/json' });
      const event = { type: 'response.completed', response };
      const items = output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]);
      const events = [{ type: 'response.created', response: { ...response, output: [] } }, ...items, event];
      reply.end(
        json.stream
          ? events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('')
          : JSON.stringify(response),
      );
      return;
    }
    const tool_calls = calls.map((call, index) => ({
      index,
      id: `c${index}`,
      type: 'function',
      function: call,
    }));
    const delta = calls.length > 0 ? { content: null, tool_calls } : { content: 'Hello.' };
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
    const made = { id: 'c', created: 1, model: 'm' };
    reply.writeHead(200, { 'content-type': json.stream ? 'text/event-stream' : 'application/json' });
    if (json.stream) {
      const choices = [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason }];
      const chunk = { ...made, object: 'chat.completion.chunk', choices, usage };
      reply.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    } else {
      const choices = [{ index: 0, message: { role: 'assistant', ...delta }, finish_reason }];
      reply.end(JSON.stringify({ ...made, object: 'chat.completion', choices, usage }));
    }
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstreams = ['chat', 'responses'].map((wire) => ({ name: wire, base_url, models: ['m'], wire }));
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify(upstreams)}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(() => {
  asked.splice(0);
  calls = [];
  output = [said];
});

/** The messages of the last request, without instructions. */
function messagesSent(): Json[] {
  const messages = (asked.at(-1)?.messages ?? []) as Json[];
  return messages.filter(({ role }) => role !== 'system');
}

function toolsSent(): Json[] {
  return ((asked.at(-1)?.tools ?? []) as { function: Json }[]).map((tool) => tool.function);
}

const user = { type: 'message', role: 'user', content: 'Hi' };

async function respond(upstream: string, input: unknown[], more: Json = {}) {
  const json = { model: `${upstream}/m`, input, store: false, ...more };
  const reply = await daemon.fetch('/v1/responses', { json });
  return { status: reply.status, body: (await reply.json()) as Json };
}

async function answered(upstream: string, input: unknown[], more: Json = {}): Promise<Json> {
  const { status, body } = await respond(upstream, input, more);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const lookup = {
  type: 'function',
  name: 'lookup',
  description: 'Looks up the weather.',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const weather = { type: 'namespace', name: 'mcp__weather', description: 'Weather.', tools: [lookup] };
const search = {
  type: 'tool_search',
  execution: 'client',
  description: 'Searches tools.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const exec = { type: 'custom', name: 'exec', description: 'Runs JavaScript.', format: { type: 'text' } };
const wait = { ...lookup, name: 'wait', description: 'Waits.' };
const spawn = { ...lookup, name: 'spawn_agent', description: 'Starts an agent.' };
const additionalTools = {
  type: 'additional_tools',
  id: 'at_1',
  role: 'developer',
  tools: [
    { type: 'namespace', name: 'functions', description: '', tools: [exec, wait] },
    { type: 'namespace', name: 'collaboration', description: 'Agents.', tools: [spawn] },
  ],
};

const caller = { type: 'program', caller_id: 'p' };
const searched = { type: 'tool_search_call', call_id: 's', execution: 'client', status: 'completed' };
const found = { type: 'tool_search_output', execution: 'client', status: 'completed', tools: [weather] };

/**
 * Items that providers with the Responses format get as they are. `twin` is what has to come with them; `elsewhere` what an
 * upstream with the chat format gets, undefined if it refuses them.
 */
const foreign: { of: string; items: Json[]; messages?: unknown }[] = [
  {
    of: 'CommandCodeAI/command-code#893: arguments that are an object',
    items: [
      { ...searched, arguments: { query: 'w' } },
      { ...found, call_id: 's', tools: [] },
    ],
    messages: [
      {
        role: 'assistant',
        tool_calls: [{ id: 's', function: { name: 'tool_search', arguments: '{"query":"w"}' } }],
      },
      { role: 'tool', tool_call_id: 's', content: 'No tools were found.' },
    ],
  },
  {
    of: 'CommandCodeAI/command-code#745: a search that the provider ran',
    items: [
      { ...searched, execution: 'server', call_id: null, arguments: { paths: ['crm'] } },
      { ...found, execution: 'server', call_id: null },
    ],
    messages: [],
  },
  {
    of: 'openai/codex: the output of a tool without a call',
    items: [{ type: 'function_call_output', call_id: null, name: 'notify', output: 'It rains.' }],
    messages: [{ role: 'user' }],
  },
  {
    of: 'ollama/ollama#18286, MetaFARS/codex-relay#60: a message of an agent',
    items: [
      {
        type: 'agent_message',
        author: '/root',
        recipient: '/root/a',
        content: [
          { type: 'input_text', text: 'Message Type: NEW_TASK' },
          { type: 'encrypted_content', encrypted_content: 'Say hello please.' },
        ],
      },
    ],
    messages: [{ role: 'user' }],
  },
  {
    of: 'openai/codex#27830: a message of an agent without content',
    items: [{ type: 'agent_message', author: '/root', recipient: '/root/a', content: null }],
    messages: [{ role: 'user' }],
  },
  {
    of: 'maximhq/bifrost#2648: calls of the shell',
    items: [
      { type: 'shell_call', call_id: 'h', action: { commands: ['ls'], timeout_ms: 5 }, status: 'completed' },
      {
        type: 'shell_call_output',
        call_id: 'h',
        max_output_length: 4096,
        output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'h', function: { name: 'shell' } }] },
      { role: 'tool', tool_call_id: 'h', content: 'a.txt\nExit code: 0' },
    ],
  },
  {
    of: 'openai-python: calls of the local shell, answered by the id of the call',
    items: [
      { type: 'local_shell_call', call_id: 'l', id: 'lsh_1', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'l', output: 'a.txt' },
    ],
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'l', function: { name: 'local_shell' } }] },
      { role: 'tool', tool_call_id: 'l', content: 'a.txt' },
    ],
  },
  {
    of: 'openai/codex: calls of the local shell, answered as functions',
    items: [
      { type: 'local_shell_call', call_id: 'l', action: { type: 'exec', command: ['ls'] } },
      { type: 'function_call_output', call_id: 'l', output: 'a.txt' },
    ],
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'l', function: { name: 'local_shell' } }] },
      { role: 'tool', tool_call_id: 'l', content: 'a.txt' },
    ],
  },
  {
    of: 'BerriAI/litellm#20905: calls of the patch tool',
    items: [
      {
        type: 'apply_patch_call',
        call_id: 'p',
        status: 'completed',
        operation: { type: 'create_file', path: 'a.py', diff: '+print(1)' },
      },
      { type: 'apply_patch_call_output', call_id: 'p', status: 'completed' },
    ],
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'p', function: { name: 'apply_patch' } }] },
      { role: 'tool', tool_call_id: 'p', content: 'completed' },
    ],
  },
  {
    of: 'Menci/Floway#180, OpenHands/software-agent-sdk#4082, vllm-project/agentic-api#334: calls of a program of GPT-5.6',
    items: [
      { type: 'program', id: 'prog_1', call_id: 'p', code: 'text(await tools.f({}))', fingerprint: 'fp' },
      { type: 'function_call', call_id: 'f', name: 'f', arguments: '{}', status: 'completed', caller },
      { type: 'function_call_output', call_id: 'f', output: 'Rain.', caller },
      { type: 'program_output', id: 'po_1', call_id: 'p', result: 'Rain.', status: 'completed' },
    ],
  },
  {
    of: 'an output without its call, which servers refuse',
    items: [{ type: 'shell_call_output', call_id: 'gone', output: [] }],
    messages: [],
  },
  {
    of: '10/chatgpt-codex-proxy#9: tools without functions',
    items: [{ ...additionalTools, tools: [{ type: 'namespace', name: 'collaboration', tools: [] }] }],
    messages: [],
  },
  {
    of: 'a type that is not known, with members of others',
    items: [
      {
        type: 'hologram_call',
        id: 7,
        call_id: null,
        name: 1,
        role: 2,
        content: 'x',
        status: {},
        summary: 'y',
        arguments: [],
        encrypted_content: {},
        namespace: [],
      },
    ],
  },
  {
    of: 'a part that is not known, with members of others',
    items: [
      { type: 'message', role: 'user', content: [{ type: 'hologram', text: {}, detail: 1, file_id: [] }] },
    ],
  },
  {
    of: 'tools that are not as expected',
    items: [{ ...additionalTools, tools: [{ type: 'function', name: 'not a name' }] }],
  },
  {
    of: 'duolahypercho/codex-router#99: a message that a provider encrypted',
    items: [
      {
        type: 'agent_message',
        author: '/root',
        recipient: '/root/a',
        content: [{ type: 'encrypted_content', encrypted_content: `gAAAAABo${'aB3-_'.repeat(30)}==` }],
      },
    ],
  },
];

/** Messages of the user in a row are one for this server. */
function alternating(messages: readonly Json[]): Json[] {
  return messages.filter(({ role }, at) => role !== 'user' || messages[at - 1]?.role !== 'user');
}

describe('items of types that only the Responses format has', () => {
  test.each(foreign)('reach a provider with this format as they are. $of', async ({ items }) => {
    await answered('responses', [user, ...items]);
    expect(asked[0]?.input).toEqual([
      expect.objectContaining({ role: 'user' }),
      ...items.map(expectUnchanged),
    ]);
  });

  test.each(foreign)('are accepted in stored responses and in input. $of', async ({ items }) => {
    output = items.map((item) => ({ ...item, id: 'x_1' }));
    const stored = await answered('responses', [user], { store: true });
    await answered('responses', [user], { previous_response_id: stored.id });
    await answered('responses', [user, ...(stored.output as Json[]), user]);
  });

  test.each(foreign)(
    'reach others as messages and calls, or are refused. $of',
    async ({ items, messages }) => {
      const { status, body } = await respond('chat', [user, ...items]);
      expect(status, JSON.stringify(body)).toBe(messages === undefined ? 400 : 200);
      if (messages !== undefined)
        expect(messagesSent()).toMatchObject(alternating([{ role: 'user' }, ...(messages as Json[])]));
      else expect((body.error as Json).param).toMatch(/^input\[1\]\./);
    },
  );

  test('the text of an agent is sent with its author', async () => {
    const { items = [] } = foreign.find(({ of }) => of.includes('18286')) ?? {};
    await answered('chat', items);
    const sent = JSON.stringify(asked[0]?.messages);
    for (const part of ['/root', '/root/a', 'NEW_TASK', 'Say hello please.']) expect(sent).toContain(part);
  });
});

/** Ids are the gateway's where the type is known. */
const expectUnchanged = ({ id: _id, ...item }: Json) => expect.objectContaining(item);

// router-for-me/CLIProxyAPI#4219, envoyproxy/ai-gateway#2586, NVIDIA-NeMo/Switchyard#515, SaladDay/cc-switch-cli#466,
// mxyhi/token_proxy#307, RubricLab/tokenmaxx#27
describe('tools in an item of the input', () => {
  const declared = () => toolsSent().map(({ name }) => name);

  test('are offered to every provider, and called by their own names', async () => {
    calls = [
      { name: 'exec', arguments: '{"input":"text(1)"}' },
      { name: 'collaboration__spawn_agent', arguments: '{"city":"Oslo"}' },
    ];
    const { output: items } = await answered('chat', [additionalTools, user]);
    expect(declared()).toEqual(['exec', 'wait', 'collaboration__spawn_agent']);
    expect(items).toMatchObject([
      { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'text(1)' },
      { type: 'function_call', name: 'spawn_agent', namespace: 'collaboration' },
    ]);
    const outputs = [
      { type: 'custom_tool_call_output', call_id: 'c0', output: '1' },
      { type: 'function_call_output', call_id: 'c1', output: 'Started.' },
    ];
    await answered('chat', [additionalTools, user, ...(items as Json[]), ...outputs]);
    const called = (messagesSent()[1]?.tool_calls ?? []) as { function: Json }[];
    expect(called.map((call) => call.function.name)).toEqual(declared().toSpliced(1, 1));
  });

  test('count for what the model must support, may be forced, and are not reported as dropped', async () => {
    const choice = { type: 'function', name: 'spawn_agent', namespace: 'collaboration' };
    const reply = await daemon.fetch('/v1/responses', {
      json: { model: 'chat/m', input: [additionalTools, user], tool_choice: choice, store: false },
    });
    expect(reply.status).toBe(200);
    expect(asked[0]?.tool_choice).toMatchObject({ function: { name: 'collaboration__spawn_agent' } });
    expect(reply.headers.get('x-service-dropped') ?? '').not.toContain('input');
  });

  test('stay when the conversation goes on by id', async () => {
    const { id } = await answered('chat', [additionalTools, user], { store: true });
    await answered('chat', [user], { previous_response_id: id });
    expect(declared()).toEqual(['exec', 'wait', 'collaboration__spawn_agent']);
  });

  test('without a name that is taken get another', async () => {
    await answered('chat', [additionalTools, user], { tools: [{ ...lookup, name: 'exec' }] });
    expect(declared()).toEqual(['exec', 'functions__exec', 'wait', 'collaboration__spawn_agent']);
  });
});

// openai/codex#37075
describe('the search for tools that the caller runs', () => {
  test.each([{ stream: false }, { stream: true }])(
    'is a function elsewhere, stream: $stream',
    async ({ stream }) => {
      calls = [{ name: 'tool_search', arguments: '{"query":"weather"}' }];
      const json = { model: 'chat/m', input: [user], tools: [search], store: false, stream };
      const reply = await daemon.fetch('/v1/responses', { json });
      const answer = await reply.text();
      const events = answer
        .split('\n')
        .flatMap((line) => (line.startsWith('data: {') ? JSON.parse(line.slice(6)) : []));
      const { output: items } = stream ? events.at(-1).response : JSON.parse(answer);
      const call = {
        type: 'tool_search_call',
        execution: 'client',
        status: 'completed',
        call_id: 'c0',
        arguments: { query: 'weather' },
      };
      expect(items).toMatchObject([call]);
      const done = events.filter(({ type }) => /output_item\.done|arguments/.test(type));
      if (stream) expect(done).toMatchObject([{ type: 'response.output_item.done', item: call }]);
      expect(toolsSent()[0]).toMatchObject({ name: 'tool_search', parameters: search.parameters });

      await answered('chat', [user, ...items, { ...found, call_id: 'c0' }], { tools: [search] });
      expect(toolsSent().map(({ name }) => name)).toEqual(['tool_search', 'mcp__weather__lookup']);
      expect(messagesSent()).toMatchObject([
        { role: 'user' },
        { tool_calls: [{ id: 'c0', function: { name: 'tool_search', arguments: '{"query":"weather"}' } }] },
        { role: 'tool', tool_call_id: 'c0', content: expect.stringContaining('lookup') },
      ]);
    },
  );

  test('that found a tool twice declares it once', async () => {
    const twice = ['a', 'b'].flatMap((call_id) => [
      { ...searched, call_id, arguments: { query: call_id } },
      { ...found, call_id },
    ]);
    await answered('chat', [user, ...twice], { tools: [search, { ...lookup, name: 'tool_search' }] });
    const names = toolsSent().map(({ name }) => name);
    expect(names).toHaveLength(3);
    expect(new Set(names).size).toBe(3);
  });
});

/** Members that are not translated, and where they are. */
const passed: { of: string; item: Json }[] = [
  {
    of: 'a call that a program makes',
    item: {
      type: 'function_call',
      call_id: 'c',
      name: 'lookup',
      arguments: '{}',
      status: 'completed',
      caller: { type: 'program', caller_id: 'p' },
      async: true,
    },
  },
  {
    of: 'a citation',
    item: {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: 'It rains.',
          annotations: [
            { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 },
          ],
          logprobs: [],
        },
      ],
    },
  },
  {
    of: 'a point for the prompt cache',
    item: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Long.', prompt_cache_breakpoint: { mode: 'explicit' } }],
    },
  },
  {
    of: 'the detail of a file',
    item: {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_file', file_url: 'https://a.example/a.pdf', filename: 'a.pdf', detail: 'high' },
      ],
    },
  },
  {
    of: 'the output of a custom tool, in parts',
    item: {
      type: 'custom_tool_call_output',
      call_id: 'k',
      status: 'completed',
      output: [{ type: 'input_text', text: 'One.', prompt_cache_breakpoint: { mode: 'explicit' } }],
    },
  },
  { of: 'a text', item: { type: 'message', role: 'user', content: 'Hi', metadata: { turn: 1 } } },
];

describe('what is not translated in an item of a known type', () => {
  const run = { type: 'custom_tool_call', call_id: 'k', name: 'exec', input: '1' };

  test.each(passed)('reaches a provider with this format: $of', async ({ item }) => {
    await answered('responses', [run, { ...item, id: 'msg_1' }]);
    expect(asked[0]?.input).toEqual([run, item]);
  });

  test('is left out elsewhere', async () => {
    const outputs = [
      { type: 'function_call_output', call_id: 'c', output: 'Rain.' },
      { type: 'message', role: 'user', content: 'Go on.' },
    ];
    const items = passed
      .map(({ item }) => item)
      .filter(({ content }) => !JSON.stringify(content)?.includes('pdf'));
    await answered('chat', [run, ...items, ...outputs]);
    expect(JSON.stringify(asked[0]?.messages)).not.toMatch(
      /breakpoint|caller|async|metadata|annotations|detail/,
    );
  });

  test('an id that a stored item got here is not sent', async () => {
    const [called, answer] = [
      { ...searched, id: 'tsc_1', call_id: 's', arguments: {} },
      { ...found, call_id: 's' },
    ];
    const { id } = await answered('responses', [called, answer, user], { store: true });
    await answered('responses', [user], { previous_response_id: id });
    const [, continued] = asked;
    expect(continued?.input).toMatchObject([called, answer, {}, {}, {}]);
    expect(JSON.stringify(continued?.input)).not.toContain('"id":"msg_');
  });
});
