import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stallsAfter } from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, startChaosDaemon } from '../support/chaos-daemon.ts';
import { runCliChild } from '../support/cli-child.ts';
import { eventually } from '../support/eventually.ts';
import { collectProgress } from '../support/mcp-progress.ts';
import { programs } from '../support/programs.ts';
import { temporaryHome } from '../support/run-cli.ts';
import type { RunningDaemon } from '../support/start-daemon.ts';

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

const { cli } = await programs();

/** The official client, which starts the command as editors do. */
async function connect({
  mode = 'legacy',
  env = {},
}: {
  mode?: 'legacy' | 'auto';
  env?: Record<string, string>;
} = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'mcp'],
    env: { GATEWAY_HOME: daemon.home, ...env },
    stderr: 'ignore',
  });
  await client.connect(transport);
  return client;
}

const slowCall = { name: 'respond', arguments: { model: 'chat/slow', input: 'Hello.' } };

describe.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const)('a client of revision %s that starts the command', (revision, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect({ mode });
  });
  afterAll(() => client.close());

  test('gets the same service as over HTTP, with the login of the CLI', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools).toHaveLength(17);
    expect((await client.listResources()).resources).toHaveLength(2);
    const { contents } = await client.readResource({ uri: 'gateway://usage/today' });
    expect(contents).toHaveLength(1);
    const status = await client.callTool({ name: 'get_status', arguments: {} });
    expect(status.structuredContent).toMatchObject({ url: daemon.url });
  });

  test('passes any text unchanged, and several requests at once', async () => {
    const inputs = ['Grüße \u2028 und\nzwei Zeilen.', '„Hello.“', '\t🙂'];
    const answers = await Promise.all(
      inputs.map((input) => client.callTool({ name: 'respond', arguments: { model: 'sim/echo', input } })),
    );
    expect(answers.map(({ structuredContent }) => (structuredContent as { text: string }).text)).toEqual(
      inputs,
    );
  });

  test('receives progress', async () => {
    const progress = collectProgress(client);
    const params = { name: 'respond', arguments: { model: 'sim/assistant', input: 'Hello.' } };
    const { structuredContent } = await client.callTool(params, { onprogress: () => {} });
    const text = progress.map(({ message }) => message).join('');
    expect((structuredContent as { text: string }).text).toBe(text);
  });

  test('receives error codes', async () => {
    const refused = (name: string, given: object) => client.callTool({ name, arguments: { ...given } });
    await expect(refused('nothing', {})).rejects.toMatchObject({ code: -32602 });
    await expect(refused('nöthing at all', {})).rejects.toMatchObject({ code: -32602 });
    await expect(refused('get_model', {})).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: 'gateway://nothing' })).rejects.toMatchObject({
      data: { uri: 'gateway://nothing' },
    });
    const failed = await client.callTool({ name: 'get_usage', arguments: { request_id: 'req_nothing' } });
    expect(failed.isError).toBe(true);
  });

  test('cancels a call', async () => {
    const heard = Promise.withResolvers<void>();
    const enough = new AbortController();
    const options = { onprogress: () => heard.resolve(), signal: enough.signal };
    const running = client.callTool(slowCall, options);
    await heard.promise;
    enough.abort();
    await expect(running).rejects.toThrow();
    await eventually('nothing is held', () => chaotic.ledger().holds.length === 0);
    expect((await client.listTools()).tools).toHaveLength(17);
  });
});

const line = (method: string, params?: object, id: unknown = 7) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })}\n`;

/** The input ends once there are so many answers, as requests that run then are ended after a second. */
async function run(stdin: string, env: Record<string, string> = {}, answers = 1) {
  const { code, stdout, stderr } = await runCliChild(['mcp'], {
    env: { GATEWAY_HOME: daemon.home, ...env },
    stdin,
    isServed: (printed) => printed.split('\n').length > answers,
  });
  const messages = stdout
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text));
  return { code, messages, stderr };
}

describe('the command itself', () => {
  test('answers each line, prints nothing else, and exits at the end of its input', async () => {
    const { code, messages, stderr } = await run(
      `${line('ping')}\n{"jsonrpc"\n[]\n${line('tools/forget', {}, 'x')}${line('resources/read', { uri: 'a:b' }, 8)}`,
      {},
      5,
    );
    expect([code, stderr]).toEqual([0, '']);
    const codes = messages.map(({ id, error }) => [id, error?.code]).toSorted();
    expect(codes).toEqual(
      [
        [7, undefined],
        [null, -32700],
        [null, -32600],
        ['x', -32601],
        [8, -32002],
      ].toSorted(),
    );
  });

  test('cancels running calls at the end of the input of a client, and says so', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' };
    const { messages } = await run(line('tools/call', { ...slowCall, _meta }), {}, 1);
    expect(messages).toMatchObject([{ id: 7, error: { message: /^The input ended before the answer/ } }]);
    await eventually('nothing is held', () => chaotic.ledger().holds.length === 0);
  });

  test('answers messages that are piped in by hand, however long it takes', async () => {
    const { messages } = await run(
      line('tools/call', { name: 'respond', arguments: { model: 'sim/slow', input: 'Hello.' } }),
      {},
      1,
    );
    expect(messages).toMatchObject([{ id: 7, result: { content: [{ type: 'text' }] } }]);
  });

  test('passes on the answer to a request whose id is none', async () => {
    const { messages, stderr } = await run('{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', {}, 1);
    expect([messages, stderr]).toEqual([[expect.objectContaining({ id: null })], '']);
  });

  test('uses the key of the environment, and reports a missing scope', async () => {
    const { messages, stderr } = await run(line('initialize'), { GATEWAY_KEY: daemon.key });
    expect(messages).toEqual([
      {
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32000, message: expect.stringMatching(/lacks the scope `plugins`/) },
      },
    ]);
    expect(stderr).toMatch(/lacks the scope/);
  });

  test('reports an invalid key', async () => {
    const { messages } = await run(line('ping'), { GATEWAY_KEY: 'gwk_wrong' });
    expect(messages[0].error.message).toMatch(/A valid API key or login is required/);
  });

  test('reports that no daemon runs, and how to start it', async () => {
    const { code, messages } = await run(line('ping'), { GATEWAY_HOME: await temporaryHome() });
    expect(code).toBe(0);
    expect(messages[0].error.message).toBe('The daemon is not running. Start it with: gateway serve');
    const elsewhere = await run(line('ping'), { GATEWAY_HOST: 'http://127.0.0.1:9' });
    expect(elsewhere.messages[0].error.message).toMatch(/nothing listens there/);
  });

  test('reports a server that is not a gateway', async () => {
    const { messages } = await run(line('ping'), { GATEWAY_HOST: `${daemon.url}/elsewhere` });
    expect(messages[0].error.message).toMatch(/path does not exist/);
  });
});
