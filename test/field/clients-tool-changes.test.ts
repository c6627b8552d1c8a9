import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/**
 * Blocks that change the tools of a conversation, of the betas mid-conversation-tool-changes-2026-07-01 and
 * inline-tools-2026-09-15. anthropics/claude-code#95087, elgorro/aiquila#412, cnighswonger/claude-code-cache-fix#273
 */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
const asked: Json[] = [];

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    asked.push(JSON.parse(body || '{}') as Json);
    const message = { role: 'assistant', content: 'Hello.' };
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
    const chat = {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    };
    const messages = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 2 },
    };
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(request.url?.endsWith('/messages') ? messages : chat));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstreams = ['chat', 'messages'].map((wire) => ({ name: wire, base_url, models: ['m'], wire }));
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify(upstreams)}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(() => asked.splice(0));

const tool = (name: string, more: Json = {}) => ({ name, input_schema: { type: 'object' }, ...more });
const reference = (name: string) => ({ type: 'tool_reference', name });
const removal = (name: string) => ({ type: 'tool_removal', tool: reference(name) });
const addition = (name: string) => ({ type: 'tool_addition', tool: reference(name) });
const definition = (defined: unknown) => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition: defined },
});

function send(upstream: string, changes: Json[]) {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'system', content: changes },
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'Go on.' },
  ];
  const tools = [tool('read'), tool('write', { defer_loading: true })];
  const json = { model: `${upstream}/m`, max_tokens: 64, tools, messages };
  return daemon.fetch('/v1/messages', {
    json,
    headers: { 'anthropic-beta': 'mid-conversation-tool-changes-2026-07-01' },
  });
}

const changes: { of: string; blocks: Json[]; tools: string[] | undefined }[] = [
  { of: 'a removal', blocks: [removal('read')], tools: ['write'] },
  { of: 'an addition', blocks: [addition('write')], tools: ['read', 'write'] },
  { of: 'a tool that is back', blocks: [removal('read'), addition('read')], tools: ['read', 'write'] },
  { of: 'a definition', blocks: [definition(tool('list'))], tools: ['read', 'write', 'list'] },
  { of: 'a new definition', blocks: [removal('read'), definition(tool('read'))], tools: ['read', 'write'] },
  {
    of: 'a removed definition',
    blocks: [definition(tool('list')), removal('list')],
    tools: ['read', 'write'],
  },
  {
    of: 'tools of an MCP server',
    blocks: [{ type: 'tool_removal', tool: { type: 'mcp_toolset_reference', server_name: 's' } }],
    tools: ['read', 'write'],
  },
  {
    of: 'a tool that Anthropic runs',
    blocks: [definition({ type: 'web_search_20260318', name: 'web_search' })],
    tools: ['read', 'write'],
  },
  { of: 'a definition without a schema', blocks: [definition({ name: 'list' })], tools: undefined },
];

describe('changes of tools in a conversation', () => {
  test.each(changes)('are applied for other providers: $of', async ({ blocks, tools }) => {
    const reply = await send('chat', blocks);
    expect(reply.status, await reply.clone().text()).toBe(tools === undefined ? 400 : 200);
    if (tools === undefined) return;
    const sent = asked[0] as { tools?: { function: Json }[]; messages?: Json[] };
    expect(sent.tools?.map((each) => each.function.name)).toEqual(tools);
    expect(sent.messages?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test.each(changes)('reach a provider with this format as they are: $of', async ({ blocks }) => {
    const reply = await send('messages', blocks);
    expect(reply.status, await reply.clone().text()).toBe(200);
    expect(asked[0]?.messages).toMatchObject([{}, { role: 'system', content: blocks }, {}, {}]);
  });
});
