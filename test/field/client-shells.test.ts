import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/**
 * Tools that OpenAI and Anthropic define and the client runs, with models of other providers: they are offered as functions, and
 * their calls come back as the client expects them.
 */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
let asked: Json = {};
let called: { name: string; arguments: string } | undefined;

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    asked = JSON.parse(body || '{}') as Json;
    const call = called && { index: 0, id: 'call_1', type: 'function', function: called };
    const delta = call ? { tool_calls: [call] } : { content: 'Done.' };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const finish_reason = call ? 'tool_calls' : 'stop';
    const choices = [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason }];
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.end(`data: ${JSON.stringify({ ...chunk, choices, usage })}\n\ndata: [DONE]\n\n`);
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  daemon = await startDaemon({
    config: `upstreams: ${JSON.stringify([{ name: 'up', base_url, models: ['*'], wire: 'chat' }])}\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

const offered = () => ((asked.tools ?? []) as { function: Json }[]).map(({ function: { name } }) => name);

async function respond(json: Json): Promise<{ status: number; body: Json }> {
  const answer = await daemon.fetch('/v1/responses', {
    json: { model: 'up/m', input: 'Go.', store: false, ...json },
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

async function streamedItems(json: Json): Promise<Json[]> {
  const body = { model: 'up/m', input: 'Go.', store: false, stream: true, ...json };
  const answer = await daemon.fetch('/v1/responses', { json: body });
  const events = [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)].map(
    ([, text = '']) => JSON.parse(text) as { type: string; item?: Json },
  );
  expect(events.filter(({ type }) => type.includes('function_call_arguments'))).toEqual([]);
  return events.flatMap(({ type, item }) => (type === 'response.output_item.done' && item ? [item] : []));
}

const shell = { type: 'shell', environment: { type: 'local' } };
const local = { type: 'local' };
const noLimits = { timeout_ms: null, max_output_length: null };

// router-for-me/CLIProxyAPI#4812: a native shell tool was dropped, and the agent did nothing.
test.each<[what: string, tool: Json, args: unknown, item: Json]>([
  [
    'commands',
    shell,
    { commands: ['ls', 'pwd'], timeout_ms: 5 },
    {
      type: 'shell_call',
      action: { ...noLimits, commands: ['ls', 'pwd'], timeout_ms: 5 },
      environment: local,
    },
  ],
  [
    'one command, in a word of the model',
    { type: 'shell' },
    { command: 'ls' },
    { type: 'shell_call', action: { ...noLimits, commands: ['ls'] } },
  ],
  [
    'a command of the local shell',
    { type: 'local_shell' },
    { command: ['ls', '-l'], working_directory: '/tmp' },
    {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls', '-l'], env: {}, working_directory: '/tmp' },
    },
  ],
  [
    'a line for the local shell',
    { type: 'local_shell' },
    { command: 'ls | wc -l' },
    { type: 'local_shell_call', action: { type: 'exec', command: ['bash', '-lc', 'ls | wc -l'], env: {} } },
  ],
  [
    'a patch',
    { type: 'apply_patch' },
    { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b' },
    { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b' } },
  ],
  [
    'a deletion, within its operation',
    { type: 'apply_patch' },
    { operation: { type: 'delete_file', path: 'a.txt' } },
    { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' } },
  ],
])('%s', async (_, tool, args, item) => {
  called = { name: String(tool.type), arguments: JSON.stringify(args) };
  const { body } = await respond({ tools: [tool], tool_choice: { type: tool.type } });
  expect(offered()).toEqual([tool.type]);
  expect(asked.tool_choice).toMatchObject({ function: { name: tool.type } });
  const wanted = {
    ...item,
    call_id: 'call_1',
    status: 'completed',
    id: expect.stringMatching(/^(sh|lsh|apc)_/),
  };
  expect(body.output).toEqual([expect.objectContaining(wanted)]);
  expect((body.service as Json).dropped).toBeUndefined();
  expect(await streamedItems({ tools: [tool] })).toEqual([expect.objectContaining(wanted)]);
});

test('a function of the client with the same name stays its own', async () => {
  const own = {
    type: 'function',
    name: 'shell',
    parameters: { type: 'object', properties: {} },
    strict: false,
  };
  called = { name: 'shell', arguments: '{}' };
  const { body } = await respond({ tools: [shell, own] });
  expect(body.output).toMatchObject([{ type: 'function_call', name: 'shell' }]);
  const [other] = offered().filter((name) => name !== 'shell');
  called = { name: String(other), arguments: '{"commands":["ls"]}' };
  expect((await respond({ tools: [shell, own] })).body.output).toMatchObject([{ type: 'shell_call' }]);
});

test('a shell in a container of the provider is left out, and reported', async () => {
  called = undefined;
  const { body } = await respond({ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] });
  expect(asked.tools).toBeUndefined();
  expect((body.service as Json).dropped).toEqual([{ param: 'tools[0]', type: 'shell' }]);
});

test.each<[path: string, json: Json]>([
  ['/v1/responses', { input: 'Go.', tools: [{ type: 'computer' }] }],
  ['/v1/responses', { input: 'Go.', tools: [{ type: 'computer_use_preview', environment: 'browser' }] }],
  [
    '/v1/messages',
    {
      max_tokens: 99,
      messages: [{ role: 'user', content: 'Go.' }],
      tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 }],
    },
  ],
])('a computer is refused, and named: %s %j', async (path, json) => {
  const answer = await daemon.fetch(path, { json: { model: 'up/m', ...json } });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toMatch(/tools\[0\].*computer|computer.*tools\[0\]/);
});

test.each<[tool: Json, input: Json]>([
  [{ type: 'bash_20250124', name: 'bash' }, { command: 'ls' }],
  [
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 99 },
    { command: 'view', path: 'a.txt', view_range: [1, 2] },
  ],
  [
    { type: 'memory_20250818', name: 'memory' },
    { command: 'rename', old_path: 'a', new_path: 'b' },
  ],
])('tools of Anthropic are functions of the same name: %j', async (tool, input) => {
  called = { name: String(tool.name), arguments: JSON.stringify(input) };
  const messages = [{ role: 'user', content: 'Go.' }];
  const tool_choice = { type: 'tool', name: tool.name };
  const json = { model: 'up/m', max_tokens: 99, messages, tools: [tool], tool_choice };
  const answer = await daemon.fetch('/v1/messages', { json });
  const { content } = (await answer.json()) as { content: Json[] };
  expect(offered()).toEqual([tool.name]);
  expect(content).toMatchObject([{ type: 'tool_use', name: tool.name, input }]);
});
