import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stallsAfter } from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, startChaosDaemon } from '../support/chaos-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { collectProgress } from '../support/mcp-progress.ts';
import { newToken } from '../support/site.ts';
import type { RunningDaemon } from '../support/start-daemon.ts';
import { addPerson } from '../support/users.ts';

let chaotic: ChaosDaemon;
let daemon: RunningDaemon;

beforeAll(async () => {
  chaotic = await startChaosDaemon();
  chaotic.chaos.on('slow', stallsAfter(8));
  daemon = chaotic.daemon;
});

afterAll(async () => {
  await chaotic.close();
});

const everyTool = [
  'list_models',
  'get_model',
  'list_rates',
  'respond',
  'decide',
  'sum_usage',
  'get_usage',
  'get_key',
  'list_keys',
  'get_status',
  'list_whispers',
  'send_whisper',
  'wallet_balance',
  'create_invoice',
  'get_invoice',
  'pay_invoice',
  'get_payment',
];
const writingTools = ['respond', 'send_whisper', 'create_invoice', 'pay_invoice'];

/** Revisions that are in use: that of clients with a handshake, and the one without. */
const revisions = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const;

async function connect(credential: string, mode: 'legacy' | 'auto' = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${credential}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit }));
  return client;
}

async function issue(scopes: readonly string[], limits?: object): Promise<{ id: string; secret: string }> {
  const answer = await daemon.fetch('/v1/workspaces/me/keys', {
    json: { scopes, limits },
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
  });
  const { key, secret } = (await answer.json()) as { key: { id: string }; secret: string };
  return { id: key.id, secret };
}

async function revoke(id: string): Promise<void> {
  const answer = await daemon.fetch(`/v1/workspaces/me/keys/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  expect(answer.status).toBe(200);
}

interface ToolResult {
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect in it.
  data: any;
  isError: boolean;
}

async function use(client: Client, name: string, given: Record<string, unknown> = {}): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: given });
  const [first] = result.content as { type: string; text: string }[];
  return { text: first?.text ?? '', data: result.structuredContent, isError: result.isError === true };
}

/** One message as bytes, as a client that was written by hand would send it. */
async function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const answer = await fetch(`${daemon.url}/mcp`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json', ...headers },
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: text === '' ? undefined : JSON.parse(text),
  };
}

const request = (method: string, params?: object | null) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, ...(params !== undefined && { params }) });

describe.each(revisions)('a client of revision %s', (revision, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(daemon.login, mode);
  });
  afterAll(() => client.close());

  test('negotiates the revision and learns the server’s name', () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: 'gateway', title: 'Gateway' });
    expect(client.getInstructions()).toMatch(/US dollars/);
  });

  test('lists every tool with a description and a closed schema', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(everyTool);
    for (const { description, inputSchema, annotations, name } of tools) {
      expect(description).toMatch(/^[A-Z].{40,}\.$/);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(annotations?.readOnlyHint).toBe(!writingTools.includes(name));
      expect(annotations?.destructiveHint).toBe(name === 'pay_invoice');
    }
  });

  test('finds a model, its abilities and its prices', async () => {
    const { data } = await use(client, 'list_models', { match: 'ASSISTANT', limit: 1 });
    expect(data.models).toEqual([
      expect.objectContaining({ id: 'sim/assistant', available: true, context_length: 128_000 }),
    ]);
    const model = await use(client, 'get_model', { model: 'sim/assistant' });
    expect(JSON.parse(model.text)).toEqual(model.data);
    expect(model.data.service.providers).toHaveLength(1);
    const rates = await use(client, 'list_rates', { match: 'sim/echo' });
    expect(rates.data).toMatchObject({ unit: 'USD per million tokens', found: 1 });
  });

  test('calls a model, metered like any other call', async () => {
    const asked = { model: 'sim/echo', input: 'Hello there.' };
    const { text, data, isError } = await use(client, 'respond', asked);
    expect([text, data.status, isError]).toEqual(['Hello there.', 'completed', false]);
    expect(data.service.provider).toBe('simulator');
    const answer = await daemon.fetch(`/v1/responses/${data.id}`);
    expect(await answer.json()).toMatchObject({ id: data.id });
    const { data: sums } = await use(client, 'sum_usage', { group_by: 'model', model: 'sim/echo' });
    expect(sums.data[0]).toMatchObject({ group: 'sim/echo' });
    const followUp = await use(client, 'respond', {
      ...asked,
      input: 'More.',
      previous_response_id: data.id,
    });
    expect(followUp.isError).toBe(false);
  });

  test('receives the text as progress', async () => {
    const reported = collectProgress(client);
    const params = { name: 'respond', arguments: { model: 'sim/assistant', input: 'Hello.' } };
    const result = await client.callTool(params, { onprogress: () => {} });
    const { text } = result.structuredContent as { text: string };
    expect(reported.map(({ message }) => message).join('')).toBe(text);
    expect(reported.at(-1)?.progress).toBe(text.length);
  });

  test('sees its key, the keys of the workspace, and the daemon', async () => {
    expect((await use(client, 'get_key')).data.scopes).toContain('responses');
    const { text, data } = await use(client, 'list_keys', { limit: 5 });
    expect(data.data.map(({ name }: { name: string }) => name)).toContain('default');
    expect(text).not.toContain(daemon.key);
    expect((await use(client, 'get_status')).data).toMatchObject({ url: daemon.url });
  });

  test('reads the resources', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['gateway://openapi.json', 'gateway://usage/today']);
    const read = async (uri: string) => {
      const [first] = (await client.readResource({ uri })).contents;
      expect(first).toMatchObject({ uri, mimeType: 'application/json' });
      return JSON.parse((first as { text: string }).text);
    };
    expect((await read('gateway://openapi.json')).openapi).toBe('3.1.0');
    expect(await read('gateway://usage/today')).toMatchObject({ object: 'list', group_by: 'model' });
    expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [] });
  });

  test('gets a tool’s failure as its result', async () => {
    const missing = await use(client, 'get_usage', { request_id: 'req_nothing' });
    expect(missing).toMatchObject({ isError: true, data: { error: { code: 'not_found' } } });
    const unknown = await use(client, 'respond', { model: 'no/such', input: 'Hello.' });
    expect(unknown).toMatchObject({ isError: true, data: { error: { code: 'model_not_found' } } });
  });

  test('gets an error for invalid arguments and unknown names', async () => {
    const code = -32602;
    const call = (name: string, given: object) => client.callTool({ name, arguments: { ...given } });
    await expect(call('nothing', {})).rejects.toMatchObject({ code, message: /no tool `nothing`/ });
    await expect(call('respond', { model: 'sim/echo' })).rejects.toMatchObject({
      code,
      message: 'respond: `input` is required.',
    });
    await expect(call('list_models', { limit: 0 })).rejects.toMatchObject({ code });
    await expect(call('list_models', { more: 1 })).rejects.toMatchObject({ code });
    // The client's own name for -32002, which is what was sent: see below.
    await expect(client.readResource({ uri: 'gateway://nothing' })).rejects.toMatchObject({
      data: { uri: 'gateway://nothing' },
    });
  });
});

describe('a single message', () => {
  test.each([
    ['that is not JSON', '{"jsonrpc":', 400, -32700, null],
    ['that is empty', '', 400, -32700, null],
    ['that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, -32700, null],
    ['that is nested too deep', '['.repeat(200) + ']'.repeat(200), 400, -32700, null],
    ['that is a text', '"ping"', 400, -32600, null],
    ['that is null', 'null', 400, -32600, null],
    ['that is a batch', `[${request('ping')}]`, 400, -32600, null],
    ['of another protocol', '{"id":7,"method":"ping"}', 400, -32600, 7],
    ['with an id that is none', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600, null],
    ['with a list for params', '{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', 400, -32600, 7],
    ['with a method that is not there', request('tools/forget'), 200, -32601, 7],
    ['for a tool that is not there', request('tools/call', { name: 'nothing' }), 200, -32602, 7],
    ['for a tool without a name', request('tools/call', {}), 200, -32602, 7],
    [
      'with bad arguments',
      request('tools/call', { name: 'respond', arguments: { model: 7 } }),
      200,
      -32602,
      7,
    ],
    ['with a list for arguments', request('tools/call', { name: 'respond', arguments: [] }), 200, -32602, 7],
    ['for a resource without an address', request('resources/read', {}), 200, -32602, 7],
    ['for a resource that is not there', request('resources/read', { uri: 'file:///etc' }), 200, -32002, 7],
  ])('%s', async (_name, body, status, code, id) => {
    const answer = await post(body);
    expect([answer.status, answer.json]).toEqual([
      status,
      { jsonrpc: '2.0', id, error: expect.objectContaining({ code, message: expect.stringMatching(/\w/) }) },
    ]);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('is answered with JSON, whatever the client accepts, and without a session', async () => {
    const answer = await post(request('ping'), { accept: 'application/json' });
    expect([answer.status, answer.json]).toEqual([200, { jsonrpc: '2.0', id: 7, result: {} }]);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  test.each([
    ['params', 'chaitin/MonkeyCode#1268', request('tools/list', null)],
    ['a cursor', 'chaitin/MonkeyCode#1268', request('tools/list', { cursor: null })],
    [
      'arguments',
      'KeeperHub/keeperhub#2108',
      request('tools/call', { name: 'list_models', arguments: null }),
    ],
    [
      'an argument',
      'anthropics/claude-code#95239',
      request('tools/call', { name: 'list_models', arguments: { match: null } }),
    ],
    [
      'a capability',
      'xpzouying/xiaohongshu-mcp#697',
      request('initialize', { protocolVersion: '2025-11-25', capabilities: { sampling: null } }),
    ],
  ])('may write null for %s (%s)', async (_what, _cite, body) => {
    const { status, json } = await post(body);
    expect([status, json]).toEqual([200, { jsonrpc: '2.0', id: 7, result: expect.any(Object) }]);
  });

  test.each([{}, { params: null }])('that needs no answer gets none: %j', async (more) => {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized', ...more });
    expect(await post(body)).toMatchObject({ status: 202, text: '' });
  });

  test.each(['GET', 'DELETE'])('offers no stream and no session for %s', async (method) => {
    const answer = await fetch(`${daemon.url}/mcp`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect(await answer.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });

  test('may not come from a web page, nor be larger than 4 MiB', async () => {
    expect((await post(request('ping'), { origin: 'https://example.com' })).json.error.code).toBe(
      'origin_not_allowed',
    );
    expect((await post(request('x'.repeat(4 * 1024 * 1024)))).status).toBe(413);
  });
});

const methods = ['ping', 'initialize', 'tools/list', 'tools/call', 'resources/read', 'subscriptions/listen'];
const anyMessage = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, fc.jsonValue()),
    id: fc.oneof({ weight: 5, arbitrary: fc.constant(7) }, fc.jsonValue()),
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...methods) }, fc.jsonValue()),
    params: fc.oneof(
      fc.record(
        {
          name: fc.oneof(fc.constantFrom(...everyTool), fc.jsonValue()),
          arguments: fc.oneof(fc.record({ model: fc.jsonValue(), limit: fc.jsonValue() }), fc.jsonValue()),
          uri: fc.oneof(fc.webUrl(), fc.jsonValue()),
          _meta: fc.record({ 'io.modelcontextprotocol/protocolVersion': fc.jsonValue() }),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
);

test('any input is answered as JSON-RPC', async () => {
  const seen = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(anyMessage, async (message) => {
      const { status, text, json } = await post(JSON.stringify(message));
      expect([200, 202, 400, 404]).toContain(status);
      expect(status === 202).toBe(text === '');
      if (json === undefined) return;
      expect([json.jsonrpc, 'result' in json]).toEqual(['2.0', !('error' in json)]);
      seen.add(json.error?.code);
      // What is at fault is the message, never the server.
      expect(json.error?.code).not.toBe(-32603);
    }),
    { numRuns: 400 },
  );
  for (const code of [undefined, -32600, -32601, -32602, -32002]) expect(seen).toContain(code);
});

describe('who may call', () => {
  test('no one without a credential, and no key without the scope', async () => {
    expect((await post(request('ping'), { authorization: '' })).status).toBe(401);
    expect((await post(request('ping'), { authorization: 'Bearer gwk_wrong' })).status).toBe(401);
    const answer = await post(request('ping'), { authorization: `Bearer ${daemon.key}` });
    expect([answer.status, answer.json.error.code]).toEqual([403, 'out_of_scope']);
    await expect(connect(daemon.key)).rejects.toThrow();
  });

  test('a key sees the tools its scopes allow, and no others', async () => {
    const { secret } = await issue(['plugins', 'usage:read']);
    const client = await connect(secret);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      everyTool.filter((name) => !/^respond|_keys$|_whispers?$|wallet|invoice|payment/.test(name)),
    );
    const refused = await use(client, 'respond', { model: 'sim/echo', input: 'Hello.' });
    expect(refused).toMatchObject({ isError: true, data: { error: { code: 'out_of_scope' } } });
    expect((await use(client, 'get_status')).data).toMatchObject({ status: 'ready' });
    await client.close();
  });

  test('the limits of a key apply', async () => {
    const { secret } = await issue(['plugins', 'responses'], { models: ['sim/assistant'] });
    const client = await connect(secret);
    const refused = await use(client, 'respond', { model: 'sim/echo', input: 'Hello.' });
    expect(refused).toMatchObject({
      isError: true,
      data: { error: { code: 'limit_reached', param: 'limits.models' } },
    });
    await client.close();
  });
});

test('an access token with all abilities sees the tools open to it', async () => {
  const offered = async (abilities: string[]) => {
    const { secret } = await newToken(daemon, daemon.login, abilities);
    const client = await connect(secret);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  };
  expect(await offered(['*'])).toEqual(
    everyTool.filter((name) =>
      /^decide$|_models?$|_rates$|_status$|_whispers?$|wallet|invoice|payment/.test(name),
    ),
  );
  await expect(offered(['whispers:read'])).rejects.toThrow();
});

test('users send each other whispers', async () => {
  const ann = await addPerson(daemon, 'ann');
  const [owner, other] = [await connect(daemon.login), await connect(ann.login)];
  const sent = await use(owner, 'send_whisper', { body: 'Hello Ann.', recipientHandle: 'ann' });
  expect(sent).toMatchObject({ isError: false, data: { data: { body: 'Hello Ann.' } } });
  const got = await use(other, 'list_whispers');
  expect(got.data.data).toEqual([expect.objectContaining({ id: sent.data.data.id, readAt: null })]);
  const refused = await use(owner, 'send_whisper', { body: 'Hello?', recipientHandle: 'nobody-here' });
  expect(refused.isError).toBe(true);
  await Promise.all([owner.close(), other.close()]);
});

describe('a key that is revoked', () => {
  const scopes = ['plugins', 'responses'];

  test('fails its running calls, charges them, and rejects new ones', async () => {
    const { id, secret } = await issue(scopes);
    const client = await connect(secret);
    const heard = Promise.withResolvers<void>();
    const params = { name: 'respond', arguments: { model: 'chat/slow', input: 'Hello.' } };
    const running = client.callTool(params, { onprogress: () => heard.resolve() });
    await heard.promise;
    await revoke(id);
    expect(await running).toMatchObject({ isError: true });
    await expect(client.listTools()).rejects.toThrow();
    await client.close();
    await eventually('nothing is held', () => chaotic.ledger().holds.length === 0);
    expect(chaotic.ledger().usage.at(-1)).toMatchObject({ model: 'chat/slow', status: 'failed' });
  });

  test('ends its subscriptions', async () => {
    const { id, secret } = await issue(scopes);
    const client = await connect(secret, 'auto');
    const subscription = await client.listen({ toolsListChanged: true });
    await revoke(id);
    await subscription.closed;
    await client.close();
  });
});

test('a client that disconnects cancels its call', async () => {
  const client = await connect(daemon.login);
  const heard = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const params = { name: 'respond', arguments: { model: 'chat/slow', input: 'Hello.' } };
  const running = client.callTool(params, { onprogress: () => heard.resolve(), signal: leaving.signal });
  await heard.promise;
  const isOver = expect(running).rejects.toThrow();
  await client.close();
  leaving.abort();
  await isOver;
  await eventually('nothing is held', () => chaotic.ledger().holds.length === 0);
});
