import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { implement, RelayReply } from '../../../../src/daemon/base/handler.ts';
import { hostNames } from '../../../../src/daemon/http/protection/guard.ts';
import { allowedOrigins } from '../../../../src/shared/http/origins.ts';
import { aListeningServer, anEndpoint, aServer, echo, ping, statusesIn, Wire } from '../http-fixture.ts';

const call = async (headers: Record<string, string>, options = {}) => {
  const { server } = await aServer([ping, echo], options);
  return server.inject({ method: 'GET', url: '/v1/ping', headers });
};

describe('the Host header', () => {
  test.each(['127.0.0.1:PORT', 'localhost:PORT', 'LocalHost:PORT', '[::1]:PORT'])(
    '%s is accepted',
    async (name) => {
      const { port } = await aListeningServer([ping]);
      const wire = new Wire(port).send(
        `GET /v1/ping HTTP/1.1\r\nHost: ${name.replace('PORT', String(port))}\r\nConnection: close\r\n\r\n`,
      );
      expect(statusesIn(await wire.all())).toEqual([200]);
    },
  );

  test.each([
    ['another name', 'Host: evil.example'],
    ['the wildcard address', 'Host: 0.0.0.0:PORT'],
    ['a name that only begins well', 'Host: localhost.evil:PORT'],
    ['another port', 'Host: localhost:1'],
    ['no port', 'Host: localhost'],
    ['two of them', 'Host: localhost:PORT\r\nHost: localhost:PORT'],
    ['an empty one', 'Host:'],
    ['none', 'X-Nothing: 1'],
  ])('is rejected with %s', async (_what, header) => {
    const { port } = await aListeningServer([ping]);
    const wire = new Wire(port).send(
      `GET /v1/ping HTTP/1.1\r\n${header.replaceAll('PORT', String(port))}\r\nConnection: close\r\n\r\n`,
    );
    const received = await wire.all();
    expect(statusesIn(received)).toEqual([403]);
    expect(received).toContain('"code":"host_not_allowed"');
    expect(received).toMatch(/x-request-id: req_\d+/);
  });

  test('may be any for the checks of an orchestrator, which asks by the address of a container', async () => {
    const healthz = implement(anEndpoint({ method: 'GET', path: '/healthz' }), async () => ({
      status: 'ok',
    }));
    const { port } = await aListeningServer([ping, healthz]);
    const status = async (path: string, method = 'GET') => {
      const wire = new Wire(port).send(
        `${method} ${path} HTTP/1.1\r\nHost: 10.1.2.3:${port}\r\nConnection: close\r\n\r\n`,
      );
      return statusesIn(await wire.all());
    };
    expect(await status('/healthz')).toEqual([200]);
    expect(await status('/healthz', 'DELETE')).toEqual([403]);
    expect(await status('/healthz?x=1')).toEqual([403]);
    expect(await status('/v1/ping')).toEqual([403]);
  });

  test('is required, also in HTTP/1.0', async () => {
    const { port } = await aListeningServer([ping]);
    expect(await new Wire(port).send('GET /v1/ping HTTP/1.0\r\n\r\n').all()).toContain('host_not_allowed');
  });

  test('may be a configured name, with or without the port', () => {
    const hosts = hostNames(['Gateway.lan', 'proxy.example:8443']);
    hosts.listenOn('192.168.1.5', 8787);
    const accepted = ['gateway.lan', 'gateway.lan:8787', 'proxy.example:8443', '192.168.1.5:8787'];
    expect(accepted.filter((name) => !hosts.has(name))).toEqual([]);
    const refused = ['proxy.example', 'proxy.example:8787', 'gateway.lan:1', '192.168.1.5', 'lan:8787'];
    expect(refused.filter((name) => hosts.has(name))).toEqual([]);
  });

  test('may be that of the public URL, which can change', () => {
    let url: string | undefined;
    const hosts = hostNames([], () => url);
    expect(hosts.has('gateway.example')).toBe(false);
    url = 'https://Gateway.example/';
    expect(hosts.has('gateway.EXAMPLE')).toBe(true);
    expect(hosts.has('gateway.example:8443')).toBe(false);
    url = 'https://gateway.example:8443';
    expect(hosts.has('gateway.example:8443')).toBe(true);
    expect(hosts.has('gateway.example')).toBe(false);
  });

  test('may omit the default port, and is never a wildcard', () => {
    const hosts = hostNames([]);
    hosts.listenOn('0.0.0.0', 80);
    expect(hosts.has('localhost')).toBe(true);
    expect(hosts.has('0.0.0.0')).toBe(false);
    expect(hosts.has('0.0.0.0:80')).toBe(false);
  });
});

describe('a web page', () => {
  test.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://localhost:3000' }],
    [{ origin: 'http://localhost:80.evil.example' }],
    [{ origin: 'https://app.example, http://localhost:80' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('is rejected from other origins: %o', async (headers) => {
    const answer = await call(headers, { allowedOrigins: ['https://app.example'] });
    expect(answer.statusCode).toBe(403);
    expect(answer.json().error).toMatchObject({ type: 'permission', code: 'origin_not_allowed' });
  });

  test.each([
    [{}],
    [{ 'sec-fetch-site': 'none' }],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:80' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }],
  ])('is accepted with %o', async (headers) => {
    const answer = await call(headers, { allowedOrigins: ['https://app.example'] });
    expect(answer.statusCode).toBe(200);
  });

  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  test.each([
    ['a link to a page', '/page', link, 200],
    ['a link to something else', '/v1/ping', link, 403],
    ['a form that is sent to a page', '/page', { ...link, origin: 'https://evil.example' }, 403],
    ['a page in a frame', '/page', { ...link, 'sec-fetch-dest': 'iframe' }, 403],
    ['a page that a script reads', '/page', { ...link, 'sec-fetch-mode': 'cors' }, 403],
  ])('of another site: %s', async (_case, url, headers, status) => {
    const page = implement(
      anEndpoint({ id: 'page', method: 'GET', path: '/page', contentType: 'text/html; charset=utf-8' }),
      async () => new RelayReply({ 'content-type': 'text/html; charset=utf-8' }, 'Hello.'),
    );
    const { server } = await aServer([page, ping]);
    const answer = await server.inject({ method: 'GET', url, headers });
    expect(answer.statusCode).toBe(status);
  });

  test('is rejected before its key and body are read', async () => {
    const seen: unknown[] = [];
    const { server } = await aServer([echo], {
      authenticate: (authorization) => {
        seen.push(authorization);
        return { kind: 'anonymous' };
      },
    });
    const answer = await server.inject({
      method: 'POST',
      url: '/v1/echo',
      headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
      payload: '{',
    });
    expect(answer.statusCode).toBe(403);
    expect(seen).toEqual([]);
  });

  test('never gets CORS headers', async () => {
    const { server } = await aServer([ping]);
    for (const method of ['OPTIONS', 'GET'] as const) {
      const { headers } = await server.inject({
        method,
        url: '/v1/ping',
        headers: { origin: 'http://localhost:80', 'access-control-request-method': 'GET' },
      });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('an allowed origin', () => {
  const options = { allowedOrigins: ['https://app.example'] };

  test('may read responses, errors included', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      const answer = await call({ origin: 'https://app.example', ...headers }, options);
      expect(answer.headers['access-control-allow-origin']).toBe('https://app.example');
      expect(answer.headers.vary).toBe('origin');
    }
  });

  test('gets a preflight response', async () => {
    const { server } = await aServer([ping], options);
    const answer = await server.inject({
      method: 'OPTIONS',
      url: '/v1/ping',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
    });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['access-control-allow-private-network']).toBeUndefined();
  });

  const request = {
    model: 'sim/echo',
    max_tokens: 16,
    messages: [{ role: 'user' as const, content: 'Hello' }],
  };
  const browser = { apiKey: 'key', dangerouslyAllowBrowser: true, maxRetries: 0 };
  test.each<[name: string, send: (fetch: typeof globalThis.fetch) => Promise<unknown>]>([
    ['openai', (fetch) => new OpenAI({ ...browser, fetch }).chat.completions.create(request)],
    [
      'openai, streaming with an idempotency key',
      (fetch) =>
        new OpenAI({ ...browser, fetch, organization: 'org', project: 'project' }).responses
          .stream({ model: 'sim/echo', input: 'Hello' }, { idempotencyKey: 'once' })
          .finalResponse(),
    ],
    ['@anthropic-ai/sdk', (fetch) => new Anthropic({ ...browser, fetch }).messages.create(request)],
    [
      '@anthropic-ai/sdk with betas',
      (fetch) => new Anthropic({ ...browser, fetch }).beta.messages.create({ ...request, betas: ['b'] }),
    ],
  ])('may send every header of %s', async (_name, send) => {
    let sent: string[] = [];
    await send(async (_url, init) => {
      sent = [...new Headers(init?.headers).keys()];
      throw new Error('seen');
    }).catch(() => {});
    const { server } = await aServer([ping], options);
    const answer = await server.inject({
      method: 'OPTIONS',
      url: '/v1/ping',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': sent.join(','),
        'access-control-request-private-network': 'true',
      },
    });
    expect(sent.length).toBeGreaterThan(5);
    expect(String(answer.headers['access-control-allow-headers']).split(', ')).toEqual(sent);
    expect(answer.headers['access-control-allow-private-network']).toBe('true');
  });

  test.each([
    ['https://app.example/', 'https://app.example'],
    ['HTTPS://App.example:443', 'https://app.example'],
    ['app://obsidian.md', 'app://obsidian.md'],
    ['chrome-extension://AbcDef', 'chrome-extension://abcdef'],
    ['tauri://localhost', 'tauri://localhost'],
    ['vscode-webview://*', 'vscode-webview://1q2w3e'],
    ['file://', 'file://'],
    ['null', 'null'],
  ])('%s allows %s and nothing else', (configured, sent) => {
    const origins = allowedOrigins([configured]);
    expect(origins.has(sent)).toBe(true);
    const others = [
      'https://app.example:8443',
      'http://app.example',
      'app://other',
      'https://other',
      'nul',
      '',
    ];
    expect(others.filter((it) => origins.has(it))).toEqual([]);
  });

  test('is not disclosed to others', async () => {
    const answer = await call({}, options);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('headers', () => {
  test('duplicate Authorization headers are rejected', async () => {
    const { port } = await aListeningServer([ping]);
    const wire = new Wire(port).send(
      `GET /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\nauthorization: Bearer login\r\nAuthorization: Bearer key:\r\nConnection: close\r\n\r\n`,
    );
    const received = await wire.all();
    expect(statusesIn(received)).toEqual([400]);
    expect(received).toContain('"param":"authorization"');
  });

  test('more than a hundred are rejected', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-${i}`, '1']));
    const answer = await call(many);
    expect(answer.statusCode).toBe(431);
    expect(answer.json().error.code).toBe('headers_too_large');
  });

  test('larger ones than the limit are rejected', async () => {
    const { port } = await aListeningServer([ping]);
    const received = await new Wire(port)
      .send(`GET /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\nX-Big: ${'a'.repeat(17_000)}\r\n\r\n`)
      .all();
    expect(statusesIn(received)).toEqual([431]);
    expect(received).toContain('"code":"headers_too_large"');
    expect(received).toMatch(/x-request-id: req_\d+/);
  });

  test('of proxies are not trusted', async () => {
    const { server } = await aServer([ping], {
      authenticate: (_authorization, { remoteAddress }) => {
        expect(remoteAddress).toBe('127.0.0.1');
        return { kind: 'anonymous' };
      },
    });
    const headers = {
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=6.6.6.6',
    };
    expect((await server.inject({ url: '/v1/ping', headers })).statusCode).toBe(200);
  });
});
