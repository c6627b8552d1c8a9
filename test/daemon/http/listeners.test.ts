import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serverUrl } from '../../../src/daemon/http/listeners.ts';
import type { HttpServerOptions } from '../../../src/daemon/http/server-options.ts';
import { SocketUnusable } from '../../../src/daemon/http/socket-file.ts';
import { eventually } from '../../support/eventually.ts';
import { aServer, aStream, echo, gate, ping, statusesIn, Wire } from './http-fixture.ts';

async function aFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-socket-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const handlers = [ping, echo];
const local = { host: '127.0.0.1', port: 0 };

interface Wishes {
  path?: string;
  access?: 'owner' | 'group';
  options?: Partial<HttpServerOptions>;
}

/** A server that also listens on a Unix socket. */
async function aServerWithSocket({ path, access = 'owner', options }: Wishes = {}) {
  const file = path ?? join(await aFolder(), 'gateway.sock');
  const fixture = await aServer(handlers, options);
  const { port } = await fixture.server.listen({ ...local, socketFile: { path: file, access } });
  return { ...fixture, port, path: file };
}

const get = (host: string, more = '') =>
  `GET /v1/ping HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe.skipIf(process.platform === 'win32')('a Unix socket', () => {
  test('is accessible to its owner, or also its group, without changing the umask', async () => {
    const usual = process.umask(0o002);
    onTestFinished(() => void process.umask(usual));
    expect(modeOf((await aServerWithSocket()).path)).toBe(0o600);
    expect(modeOf((await aServerWithSocket({ access: 'group' })).path)).toBe(0o660);
    expect(process.umask(0o002)).toBe(0o002);
  });

  test('serves the same API as the port', async () => {
    const { path, port } = await aServerWithSocket();
    for (const place of [{ path }, { port, host: '127.0.0.1' }]) {
      const received = await new Wire(place).send(get(`localhost:${port}`)).all();
      expect(received).toContain('{"pong":true}');
    }
  });

  test.each([
    ['localhost', 200],
    ['localhost:1', 200],
    ['LOCALHOST', 200],
    ['127.0.0.1', 200],
    ['[::1]:4100', 200],
    ['gateway.lan', 200],
    ['evil.example', 403],
    ['localhost.evil.example', 403],
    ['localhost:80.evil.example', 403],
    ['0.0.0.0', 403],
    ['', 403],
  ])('returns for the Host %j: %i', async (host, status) => {
    const { path } = await aServerWithSocket({ options: { allowedHosts: ['gateway.lan'] } });
    expect(statusesIn(await new Wire({ path }).send(get(host)).all())).toEqual([status]);
  });

  test('adds no host names to the port', async () => {
    const { port } = await aServerWithSocket();
    expect(statusesIn(await new Wire(port).send(get('localhost')).all())).toEqual([403]);
  });

  test('keeps the protection against web pages', async () => {
    const { path } = await aServerWithSocket();
    const received = await new Wire({ path })
      .send(get('localhost', 'Origin: https://evil.example\r\n'))
      .all();
    expect(received).toContain('"code":"origin_not_allowed"');
  });

  test('reports its connections to handlers as `unix`, and limits anonymous calls together', async () => {
    const seen: string[] = [];
    const { path } = await aServerWithSocket({
      options: {
        limits: { publicBurst: 1, publicPerSecond: 0.001 },
        authenticate: (_authorization, { remoteAddress }) => {
          seen.push(remoteAddress);
          return { kind: 'anonymous' };
        },
      },
    });
    const statuses = [];
    for (let i = 0; i < 2; i += 1) {
      statuses.push(...statusesIn(await new Wire({ path }).send(get('localhost')).all()));
    }
    expect({ seen, statuses }).toEqual({ seen: ['unix', 'unix'], statuses: [200, 429] });
  });

  test.each([
    ['slow headers', 'GET /v1/ping HTTP/1.1\r\nHost:', 408, 200],
    ['no HTTP', 'HACK / HTTP/1.1\r\n\r\n', 400, 60_000],
    ['a tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 404, 60_000],
  ])('has the limits of the port: %s', async (_what, text, status, headersTimeoutMs) => {
    const limits = { headersTimeoutMs, requestTimeoutMs: 60_000, connectionCheckMs: 20 };
    const { path } = await aServerWithSocket({ options: { limits } });
    const received = await new Wire({ path }).send(text).all();
    expect(statusesIn(received)).toEqual([status]);
    expect(received).toMatch(/x-request-id: req_\d+/);
  });

  test('shares the connection limit with the port', async () => {
    const { path, port } = await aServerWithSocket({ options: { limits: { connectionsMax: 2 } } });
    const head = `Host: 127.0.0.1:${port}\r\n`;
    const keep = `GET /v1/ping HTTP/1.1\r\n${head}\r\n`;
    const half = `POST /v1/echo HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`;
    const first = new Wire({ path }).send(half);
    await first.until(/100 Continue/);
    await new Wire(port).send(half).until(/100 Continue/);
    expect(await new Wire({ path }).send(keep).all()).toBe('');
    expect(await new Wire(port).send(keep).all()).toBe('');
    first.socket.destroy();
    await eventually('there is context again', async () =>
      /pong/.test(await new Wire({ path }).send(get('localhost')).all()),
    );
  });

  test('is removed when the server closes, whatever its clients do', async () => {
    const { path, server } = await aServerWithSocket();
    const idle = new Wire({ path }).send('GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await idle.until(/pong/);
    const halfSaid = new Wire({ path }).send('POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Le');
    await eventually('it is connected', () => halfSaid.socket.readyState === 'open');
    await server.close();
    await Promise.all([idle.all(), halfSaid.all()]);
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('finishes its running streams and rejects new calls meanwhile', async () => {
    const later = gate();
    const streaming = aStream(later.promise);
    const path = join(await aFolder(), 'gateway.sock');
    const { server } = await aServer([streaming, ping]);
    await server.listen({ ...local, socketFile: { path, access: 'owner' } });
    const running = new Wire({ path }).send('GET /v1/things HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await running.until(/data: 1/);
    const drained = server.drain(20_000);
    expect(await new Wire({ path }).send(get('localhost')).all()).toContain('"code":"unavailable"');
    later.resolve();
    await drained;
    await running.until(/data: 2/);
  });
});

/** Another process's server. */
async function listener(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen({ path }, resolve));
  onTestFinished(() => void server.close());
  return server;
}

/** The stale socket of a killed process. */
async function leaveBehind(path: string): Promise<void> {
  const server = await listener(`${path}.old`);
  // Renamed, so that closing the server does not remove it.
  const { renameSync } = await import('node:fs');
  renameSync(`${path}.old`, path);
  await new Promise((resolve) => server.close(resolve));
}

describe.skipIf(process.platform === 'win32')('the path of a Unix socket', () => {
  const failureAt = async (path: string) => {
    const failure: unknown = await aServerWithSocket({ path }).then(
      () => new Error('it was taken'),
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SocketUnusable);
    return failure as SocketUnusable;
  };

  test('may hold a stale socket', async () => {
    const path = join(await aFolder(), 'gateway.sock');
    await leaveBehind(path);
    await aServerWithSocket({ path });
    expect(statusesIn(await new Wire({ path }).send(get('localhost')).all())).toEqual([200]);
  });

  test('is rejected if another process listens there', async () => {
    const path = join(await aFolder(), 'gateway.sock');
    const other = await listener(path);
    expect(await failureAt(path)).toMatchObject({ isTaken: true });
    expect(statSync(path).isSocket()).toBe(true);
    expect(other.listening).toBe(true);
  });

  test.each([
    ['a file', (path: string) => writeFileSync(path, 'mine')],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link', (path: string) => symlinkSync('/nonexistent', path)],
  ])('is rejected if it holds %s, which is left unchanged', async (_what, make) => {
    const path = join(await aFolder(), 'gateway.sock');
    make(path);
    const { message, isTaken } = await failureAt(path);
    expect({ message, isTaken }).toEqual({
      message: expect.stringContaining('is not a socket'),
      isTaken: false,
    });
  });

  test('is limited in bytes', async () => {
    const folder = await aFolder();
    const max = process.platform === 'darwin' ? 103 : 107;
    const context = max - Buffer.byteLength(folder) - 1;
    const exact = join(folder, 'é'.repeat(Math.floor(context / 2)) + 'x'.repeat(context % 2));
    expect((await failureAt(`${exact}x`)).message).toContain(`at most ${max} bytes`);
    await aServerWithSocket({ path: exact });
    expect(statSync(exact).isSocket()).toBe(true);
  });

  test('is rejected in a missing folder, or one writable by others', async () => {
    const folder = await aFolder();
    expect((await failureAt(join(folder, 'no', 'gateway.sock'))).message).toContain('does not exist');
    chmodSync(folder, 0o770);
    expect((await failureAt(join(folder, 'gateway.sock'))).message).toContain(`chmod go-w ${folder}`);
    // In a sticky folder such as /tmp, others cannot rename it.
    chmodSync(folder, 0o1777);
    await aServerWithSocket({ path: join(folder, 'gateway.sock') });
  });

  test.runIf(process.getuid?.() === 0)(
    'is rejected in a folder of another user (skipped unless run by root)',
    async () => {
      const folder = await aFolder();
      chownSync(folder, 65_534, 65_534);
      expect((await failureAt(join(folder, 'gateway.sock'))).message).toContain('belongs to another user');
    },
  );

  test('leaves the server closed if it is rejected', async () => {
    const folder = await aFolder();
    const { server } = await aServer(handlers);
    const path = join(folder, 'no', 'gateway.sock');
    await expect(server.listen({ ...local, socketFile: { path, access: 'owner' } })).rejects.toThrow();
    await server.close();
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

describe('a server at `localhost`', () => {
  const listening = async () => {
    const { server } = await aServer(handlers);
    return (await server.listen({ host: 'localhost', port: 0 })).port;
  };

  test('accepts connections to 127.0.0.1', async () => {
    const port = await listening();
    expect(statusesIn(await new Wire(port).send(get(`localhost:${port}`)).all())).toEqual([200]);
  });

  test.runIf(hasIpv6)(
    'accepts connections to ::1, with the same protection (skipped without IPv6)',
    async () => {
      const port = await listening();
      const place = { host: '::1', port };
      expect(statusesIn(await new Wire(place).send(get(`[::1]:${port}`)).all())).toEqual([200]);
      for (const text of [
        'HACK / HTTP/1.1\r\n\r\n',
        'CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n',
      ]) {
        const received = await new Wire(place).send(text).all();
        expect(received).toMatch(/x-request-id: (req_\d+)\r\n.*"request_id":"\1"/s);
      }
    },
  );
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4100'],
  ['gateway.lan', 'http://gateway.lan:4100'],
  ['::1', 'http://[::1]:4100'],
  ['0.0.0.0', 'http://127.0.0.1:4100'],
  ['::', 'http://[::1]:4100'],
])('a server on %s has the URL %s', (host, url) => {
  expect(serverUrl(host, 4100)).toBe(url);
});
