import { existsSync, readFileSync, statSync, unlinkSync } from 'node:fs';
import { createServer, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import OpenAI from 'openai';
import { Agent, fetch as fetchOver } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { exitCodes } from '../../src/shared/errors.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { runCli, temporaryHome } from '../support/run-cli.ts';
import { exampleIn, hasNginx, startNginx } from '../support/web-proxies.ts';

/** Next to the configuration, which names it without a folder. */
const config = 'listen: { socket: gateway.sock, allowed_hosts: [gateway.lan] }\n';

let daemon: ChildDaemon;
let path: string;

beforeAll(async () => {
  daemon = await startChildDaemon({ config });
  path = join(daemon.home, 'gateway.sock');
});

afterAll(() => daemon?.remove());

/** One call by the socket. */
const ask = (target: string, headers: Record<string, string> = {}, socketPath = path) =>
  answerTo({ socketPath, path: target, headers });

async function answerTo(options: RequestOptions, body?: string): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const call = request({ ...options, agent: false }, async (answer) => {
      let text = '';
      for await (const bytes of answer) text += bytes;
      resolve({ status: answer.statusCode ?? 0, text });
    });
    call.once('error', reject).end(body);
  });
}

/** One turn on a WebSocket: the type of its last event. */
async function turnOver(address: string, host: string): Promise<string | undefined> {
  const socket = new WebSocket(address, { headers: { ...bearer(), host } });
  onTestFinished(() => socket.terminate());
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.once('error', reject);
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    if (type === 'response.completed' || type === 'error') resolve(type);
  });
  socket.once('open', () =>
    socket.send(JSON.stringify({ type: 'response.create', model: 'sim/echo', input: 'hello' })),
  );
  return await promise;
}

const bearer = () => ({ authorization: `Bearer ${daemon.key}` });

describe.skipIf(process.platform === 'win32')('a daemon with a Unix socket', () => {
  test('reports its address in its output, its file and its status', async () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(daemon.printed().stdout).toContain(`\n  socket     ${path}\n`);
    const file = JSON.parse(readFileSync(join(daemon.home, 'daemon.json'), 'utf8'));
    expect(file).toMatchObject({ url: daemon.url, socket: path, pid: daemon.pid });
    const env = { GATEWAY_HOME: daemon.home };
    const status = JSON.parse((await runCli(['status', '--json'], { env })).stdout);
    expect(status).toMatchObject({ url: daemon.url, socket: path });
    const { stdout } = await runCli(['doctor'], { env });
    expect(stdout).toContain(`ok\tsocket\t${path}, owner only\t`);
  });

  test('serves an SDK', async () => {
    const dispatcher = new Agent({ connect: { socketPath: path } });
    onTestFinished(() => dispatcher.close());
    const client = new OpenAI({
      baseURL: 'http://localhost/v1',
      apiKey: daemon.key,
      maxRetries: 0,
      fetch: (url, init) => fetchOver(url as string, { ...(init as object), dispatcher }) as never,
    });
    const stream = await client.responses.create({ model: 'sim/echo', input: 'by its file', stream: true });
    let text = '';
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    expect(text).toBe('by its file');
  });

  test('accepts WebSockets', async () => {
    expect(await turnOver(`ws+unix:${path}:/v1/responses`, 'localhost')).toBe('response.completed');
  });

  test('serves metrics as on loopback, but not to proxied requests', async () => {
    expect((await ask('/metrics')).status).toBe(200);
    expect((await ask('/metrics', { 'x-forwarded-for': '192.0.2.7' })).status).toBe(401);
    expect((await ask('/metrics', { host: 'gateway.lan' })).status).toBe(401);
    expect((await ask('/metrics', { host: 'evil.example' })).status).toBe(403);
  });

  test('is found by commands, which send no login to another daemon', async () => {
    const env = { GATEWAY_HOME: daemon.home };
    for (const address of [`unix:${path}`, `unix://${path}`]) {
      const { code, stdout } = await runCli(['--host', address, 'whoami', '--json'], { env });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ host: 'local', url: daemon.url });
    }
    const named = await runCli(['key', '--json=name'], {
      env: { ...env, GATEWAY_HOST: `unix:${path}`, GATEWAY_KEY: daemon.key },
    });
    expect(JSON.parse(named.stdout)).toEqual({ name: 'default' });

    const seen: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
    });
    const elsewhere = join(await temporaryHome(), 'other.sock');
    await new Promise<void>((resolve) => other.listen({ path: elsewhere }, resolve));
    onTestFinished(() => void other.close());
    await runCli(['--host', `unix:${elsewhere}`, 'whoami'], { env });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((header) => header !== undefined)).toEqual([]);
  });

  test('is reported as missing when no one listens', async () => {
    const nowhere = join(await temporaryHome(), 'no.sock');
    const { code, stderr } = await runCli(['--host', `unix:${nowhere}`, 'models'], { env: {} });
    expect(code).toBe(exitCodes.tryLater);
    expect(stderr).toContain(`unix:${nowhere} cannot be reached: nothing listens there.`);
  });

  test('does not replace the socket of another daemon, and names it', async () => {
    const home = await temporaryHome();
    const second = startChildDaemon({ home, env: { GATEWAY_SOCKET: path } });
    await expect(second).rejects.toThrow(
      process.platform === 'linux'
        ? new RegExp(
            `ended with 1: The socket .* is in use by node .*\\(pid ${daemon.pid}\\)\\.\\nChoose another path with --socket`,
          )
        : /is in use/,
    );
    expect((await ask('/healthz')).status).toBe(200);
    expect(existsSync(join(home, 'daemon.json'))).toBe(false);
  });
});

describe.skipIf(process.platform === 'win32')('a Unix socket over time', () => {
  test('is taken over from a killed daemon, and removed when its daemon stops', async () => {
    const first = await startChildDaemon({ config });
    onTestFinished(() => first.remove());
    const file = join(first.home, 'gateway.sock');
    first.signal('SIGKILL');
    await first.ended;
    expect(statSync(file).isSocket()).toBe(true);
    const next = await startChildDaemon({ home: first.home });
    expect((await ask('/healthz', {}, file)).status).toBe(200);
    next.signal('SIGTERM');
    expect(await next.ended).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test('that was removed is reported by doctor, while commands use the port', async () => {
    const lost = await startChildDaemon({ config });
    onTestFinished(() => lost.remove());
    unlinkSync(join(lost.home, 'gateway.sock'));
    const env = { GATEWAY_HOME: lost.home };
    const { code, stdout } = await runCli(['doctor'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warning\tsocket\t.* no longer exists\tRestart the daemon/m);
    expect((await runCli(['key'], { env })).code).toBe(0);
  });
});

/** The example of the guide, in front of the socket. */
async function startProxy(): Promise<string> {
  const example = exampleIn('docs/configuration.md', 'nginx')
    .replace(/unix:\S+\.sock/, `unix:${path}`)
    .replace(/server_name .*;/, 'server_name gateway.lan;');
  const nginx = await startNginx(example);
  onTestFinished(() => nginx.stop());
  return nginx.url;
}

describe.skipIf(!hasNginx)(
  'nginx (skipped where it is not installed) in front of a Unix socket, set up as in the guide',
  () => {
    test('forwards calls, streams and WebSockets, but nothing reserved for this machine', async () => {
      const url = await startProxy();
      const { hostname, port } = new URL(url);
      const host = { host: 'gateway.lan' };
      const through = (target: string, headers: Record<string, string>) =>
        answerTo({ hostname, port, path: target, headers });
      expect((await through('/v1/key', { ...host, ...bearer() })).status).toBe(200);
      expect((await through('/metrics', host)).status).toBe(401);
      expect((await through('/metrics', { host: 'localhost' })).status).toBe(401);
      const body = JSON.stringify({ model: 'sim/echo', input: 'through a proxy', stream: true });
      const headers = { ...host, ...bearer(), 'content-type': 'application/json' };
      const streamed = await answerTo(
        { hostname, port, path: '/v1/responses', method: 'POST', headers },
        body,
      );
      expect(streamed.text).toMatch(/"text":"through a proxy".*data: \[DONE\]\n\n$/s);
      expect(await turnOver(`ws://127.0.0.1:${port}/v1/responses`, 'gateway.lan')).toBe('response.completed');
    });
  },
);
