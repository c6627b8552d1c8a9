import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { startProxy, startSocksProxy, type TestProxy } from '../support/start-proxy.ts';
import { testCertificate } from '../support/test-certificate.ts';

const password = 'pa ss';
let fake: FakeOpenAi;
/** Ends TLS before the daemon and before the provider, as load balancers do. */
let tlsOfProvider: Server;
let tlsOfGateway: Server;
let proxy: TestProxy;
let daemon: RunningDaemon;

async function startTls(port: () => number): Promise<Server> {
  const server = createServer(testCertificate, (socket) => {
    const beyond = connect(port(), '127.0.0.1');
    socket.on('error', () => beyond.destroy());
    beyond.on('error', () => socket.destroy());
    socket.pipe(beyond).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const address = (secret = encodeURIComponent(password), port = proxy.port) =>
  `http://me:${secret}@127.0.0.1:${port}`;

const config = () => {
  const port = new URL(fake.baseUrl).port;
  const upstream = (name: string, url: string) =>
    `  - { name: ${name}, base_url: '${url}', models: ['*'] }\n`;
  return `upstreams:\n${[
    upstream('behind', 'https://provider.test/v1'),
    upstream('plain', 'http://plain.test/v1'),
    upstream('here', `http://127.0.0.1:${port}/v1`),
    upstream('excepted', `http://0.0.0.0:${port}/v1`),
  ].join('')}`;
};

const ask = (at: RunningDaemon, upstream: string, more = {}) =>
  at.fetch('/v1/chat/completions', {
    json: { model: `${upstream}/any`, messages: [{ role: 'user', content: 'Hello.' }], ...more },
  });

const authorities = getCACertificates('default');

beforeAll(async () => {
  setDefaultCACertificates([...authorities, testCertificate.cert]);
  fake = await startFakeOpenAi();
  tlsOfProvider = await startTls(() => Number(new URL(fake.baseUrl).port));
  tlsOfGateway = await startTls(() => Number(new URL(daemon.url).port));
  proxy = await startProxy({
    credentials: `me:${password}`,
    hosts: {
      'provider.test': portOf(tlsOfProvider),
      'plain.test': Number(new URL(fake.baseUrl).port),
      'gateway.test': portOf(tlsOfGateway),
    },
  });
  daemon = await startDaemon({
    config: `${config()}listen: { allowed_hosts: [gateway.test] }\n`,
    env: { HTTPS_PROXY: address(), http_proxy: address(), NO_PROXY: 'example.com, 0.0.0.0' },
  });
});

afterAll(async () => {
  setDefaultCACertificates(authorities);
  await daemon.stop();
  await proxy.close();
  for (const server of [tlsOfProvider, tlsOfGateway]) server.close();
  await fake.close();
});

beforeEach(() => {
  proxy.asked.length = 0;
  fake.forget();
});

describe('calls to providers', () => {
  test('over TLS go through a tunnel, streamed or not, and reuse it', async () => {
    expect((await ask(daemon, 'behind')).status).toBe(200);
    const streamed = await ask(daemon, 'behind', { stream: true });
    expect(await streamed.text()).toContain('data: [DONE]');
    expect(proxy.asked).toEqual(['CONNECT provider.test:443']);
    expect(fake.requests).toHaveLength(2);
  });

  test('without TLS are forwarded by the proxy, and its password goes no further', async () => {
    expect((await ask(daemon, 'plain')).status).toBe(200);
    expect(proxy.asked).toEqual(['POST http://plain.test/v1/chat/completions']);
    expect(fake.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test.each(['here', 'excepted'])(
    'to this machine or a name in NO_PROXY go there directly: %s',
    async (name) => {
      expect((await ask(daemon, name)).status).toBe(200);
      expect(proxy.asked).toEqual([]);
      expect(fake.requests).toHaveLength(1);
    },
  );
});

describe('a proxy that', () => {
  async function refused(proxies: string) {
    const other = await startDaemon({ config: config(), env: { HTTPS_PROXY: proxies } });
    try {
      const answer = await ask(other, 'behind');
      const text = await answer.text();
      expect(text).not.toMatch(/pa%20ss|pa ss|wrong|127\.0\.0\.1/);
      expect(answer.status).toBe(502);
      return (JSON.parse(text) as { error: { message: string } }).error.message;
    } finally {
      await other.stop();
    }
  }

  const unreachable = 'Every provider tried failed: behind could not be reached';

  test('rejects the call is reported with its status', async () => {
    expect(await refused(address('wrong'))).toBe(`${unreachable}: the proxy answered 407.`);
    expect(fake.requests).toEqual([]);
  });

  test('is unreachable is reported', async () => {
    const gone = await startProxy({ credentials: '', hosts: {} });
    await gone.close();
    expect(await refused(address(undefined, gone.port))).toBe(`${unreachable}: no connection could be made.`);
  });

  test('is malformed is reported at the start without repeating its value', async () => {
    const started = startDaemon({ env: { HTTPS_PROXY: 'ftp://me:secret@proxy.test' } });
    await expect(started).rejects.toThrow('HTTPS_PROXY: expected a proxy address');
    await expect(started).rejects.not.toThrow('secret');
  });
});

test('a SOCKS proxy resolves the name of the host', async () => {
  const socks = await startSocksProxy({ 'provider.test': portOf(tlsOfProvider) });
  const all = { ALL_PROXY: `socks5h://127.0.0.1:${socks.port}` };
  const other = await startDaemon({ config: config(), env: all });
  try {
    const streamed = await ask(other, 'behind', { stream: true });
    expect(await streamed.text()).toContain('data: [DONE]');
    expect(socks.asked).toEqual(['provider.test:443']);
  } finally {
    await other.stop();
    await socks.close();
  }
});

test('commands reach a remote host through a proxy', async () => {
  const env = { GATEWAY_KEY: daemon.key, HTTPS_PROXY: address(), GATEWAY_HOME: daemon.home };
  const shown = await runCli(['key', '--json', '--host', 'https://gateway.test'], { env });
  expect(shown.stderr).toBe('');
  expect(JSON.parse(shown.stdout)).toMatchObject({ name: 'default', workspace: expect.any(String) });
  expect(proxy.asked).toEqual(['CONNECT gateway.test:443']);

  proxy.asked.length = 0;
  expect((await runCli(['key', '--json', '--host', daemon.url], { env })).code).toBe(0);
  expect(proxy.asked).toEqual([]);
});
