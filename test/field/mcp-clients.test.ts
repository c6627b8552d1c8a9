import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What MCP clients send, and what of an answer they cannot take, each from a public report. */

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(() => daemon.stop());

async function send(message: object, headers: Record<string, string> = {}, path = '/mcp') {
  const answer = await fetch(daemon.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get('content-type'), text };
}

async function request(method: string, params: object, headers?: Record<string, string>) {
  const { status, text } = await send({ id: 1, method, params }, headers);
  expect(status).toBe(200);
  return JSON.parse(text) as {
    result?: Record<string, unknown> & { isError?: boolean; structuredContent?: Record<string, unknown> };
    error?: { code: number; message: string };
  };
}

const use = (name: string, given: unknown) => request('tools/call', { name, arguments: given });
const hello = { model: 'sim/echo', input: 'Hello' };

describe('arguments of other types than the tool takes', () => {
  test.each<[cite: string, tool: string, given: unknown]>([
    ['github/github-mcp-server#2044', 'respond', { ...hello, max_output_tokens: '500' }],
    ['VibiumDev/vibium#85', 'list_models', { limit: '2' }],
    ['anthropics/claude-code#24597', 'respond', { ...hello, max_price: '{"input":"2.50"}' }],
    ['anthropics/claude-code#73137', 'respond', { ...hello, fallbacks: '["sim/assistant"]' }],
    [
      'hustcc/mcp-echarts#30',
      'decide',
      {
        input: 'Hi',
        model: 'sim/echo',
        questions: '[{"type":"predicate","instructions":"Is it a greeting?"}]',
      },
    ],
    ['BigSweetPotatoStudio/HyperChat#123', 'respond', { ...hello, temperature: '0.5', store: 'false' }],
    ['cursor/cursor#3614', 'list_models', { available: '', limit: '' }],
    ['cursor/cursor#3614', 'sum_usage', { since: '', group_by: '', tz: '' }],
    ['mondaycom/mcp#15', 'get_key', { random_string: 'dummy' }],
    ['anomalyco/opencode#32812', 'respond', JSON.stringify(hello)],
    ['anomalyco/opencode#32812', 'get_status', ''],
  ])('%s: %s of %j', async (_cite, tool, given) => {
    const { result, error } = await use(tool, given);
    expect(error).toBeUndefined();
    expect(result?.structuredContent?.error).not.toMatchObject({ code: 'invalid_request' });
  });

  test.each<[tool: string, given: unknown, message: string]>([
    ['respond', { ...hello, max_output_tokens: 'many' }, '`max_output_tokens` must be an integer'],
    ['respond', { ...hello, max_output_tokens: '1.5' }, '`max_output_tokens` must be an integer'],
    ['respond', { ...hello, max_output_tokens: '', store: '[]' }, '`store` must be'],
    ['respond', { model: 'sim/echo', input: '' }, '`input`'],
    ['pay_invoice', { invoice: 'l'.repeat(20), maxAmountSats: '12px' }, '`maxAmountSats` must be'],
    ['list_models', { limit: `${'['.repeat(5_000)}${']'.repeat(5_000)}` }, '`limit` must be'],
    ['list_models', { more: '1' }, '`more` is not a known field'],
    ['list_models', 'limit=2', 'params.arguments'],
    ['list_models', '[]', 'params.arguments'],
  ])('%s of %j is refused', async (tool, given, message) => {
    const { error } = await use(tool, given);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) });
  });

  test('a text that is one stays one', async () => {
    const { result } = await use('respond', { ...hello, input: '500' });
    expect(result).toMatchObject({ content: [{ text: '500' }] });
  });
});

describe('the tools', () => {
  /** Every schema within one. */
  function* schemasIn(schema: unknown): Generator<Record<string, unknown>> {
    if (typeof schema !== 'object' || schema === null) return;
    if (!Array.isArray(schema)) yield schema as Record<string, unknown>;
    for (const inner of Object.values(schema)) yield* schemasIn(inner);
  }

  test('have schemas that the strictest client takes', async () => {
    const { result } = await request('tools/list', {});
    const tools = result?.tools as { name: string; inputSchema: Record<string, unknown> }[];
    expect(tools.length).toBeGreaterThan(10);
    for (const { name, inputSchema } of tools) {
      // xpzouying/xiaohongshu-mcp#677, opentokenz/mcpx#28, hahwul/gori#1140
      expect(inputSchema).toMatchObject({ type: 'object', properties: {}, additionalProperties: false });
      expect(Object.keys(inputSchema)).not.toEqual(expect.arrayContaining(['anyOf', 'oneOf', 'allOf']));
      expect(name).toMatch(/^[a-z_]{1,40}$/);
      for (const schema of schemasIn(inputSchema)) {
        // cursor/cursor#3778, google-gemini/gemini-cli#21094
        expect(Array.isArray(schema.type), `${name}: ${JSON.stringify(schema)}`).toBe(false);
        // microsoft/vscode#325618
        if (schema.type === 'array') expect(schema.items).toBeTypeOf('object');
        if (Array.isArray(schema.enum)) expect(schema.type).toBeTypeOf('string');
      }
    }
  });
});

describe('the transport', () => {
  test('a message without an answer has no type either (awslabs/mcp#3324)', async () => {
    const answer = await send({ method: 'notifications/initialized' });
    expect(answer).toEqual({ status: 202, type: null, text: '' });
  });

  test.each([
    ['OpenLiberty/open-liberty#35727', 'application/json'],
    ['vercel/vercel-mcp-overview#1', 'application/json, application/mcp+json'],
    ['XS-MLVP/UCAgent#127', '*/*'],
    ['anthropics/claude-code#45368', 'text/event-stream'],
  ])('%s: `accept: %s` is answered', async (_cite, accept) => {
    expect(await request('ping', {}, { accept })).toMatchObject({ result: {} });
  });

  test.each(['2099-01-01', '2024-10-07', '1.0'])(
    'revision %s is answered with one that is known (drshade/haskell-mcp-server#2)',
    async (protocolVersion) => {
      const clientInfo = { name: 'a', version: '1' };
      const { result } = await request('initialize', { protocolVersion, capabilities: {}, clientInfo });
      expect(result?.protocolVersion).toMatch(/^202[45]-\d\d-\d\d$/);
    },
  );

  test('a revision that nobody knows is refused afterwards (modelcontextprotocol/php-sdk#306)', async () => {
    const headers = { 'mcp-protocol-version': '1900-01-01' };
    expect(await send({ id: 1, method: 'ping' }, headers)).toMatchObject({ status: 400 });
  });

  test('a session of before, and a slash at the end, change nothing (f/mcptools#69)', async () => {
    const answer = await send({ id: 'a', method: 'ping' }, { 'mcp-session-id': 'old' }, '/mcp/');
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('"id":"a"') });
  });

  test.each([
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/openid-configuration',
    '/mcp/.well-known/openid-configuration',
    '/register',
  ])('%s is a 404 in JSON (earthobservations/wetterdienst#1772)', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(daemon.url + path, { method, headers: { accept: 'text/html' } });
      expect([answer.status, (await answer.json()) as object]).toEqual([404, expect.any(Object)]);
    }
  });
});
