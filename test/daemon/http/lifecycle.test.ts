import { once } from 'node:events';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement, type RelayReply, StreamReply } from '../../../src/daemon/base/handler.ts';
import { connectionsMaxFor, openFilesMax } from '../../../src/daemon/http/protection/limits.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { pauseProcess } from '../../support/pause-process.ts';
import { aListeningServer, anEndpoint, aServer, gate, ping, statusesIn, Wire } from './http-fixture.ts';

const get = (port: number, path = '/v1/ping') => `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;

/** Sends its signal's reason as its last event, like model streams. */
const openStream = implement(
  anEndpoint({
    id: 'openStream',
    method: 'GET',
    path: '/v1/stream',
    stream: { event: Type.Unknown(), done: true, always: true },
  }),
  async ({ signal }) =>
    new StreamReply(
      {},
      (async function* () {
        yield 'data: started\n\n';
        await once(signal, 'abort');
        yield `data: ${signal.reason}\n\ndata: [DONE]\n\n`;
      })(),
    ),
);

describe('draining', () => {
  test('waits for running calls, then resolves', async () => {
    const go = gate();
    const started = gate();
    const slow = implement(anEndpoint({ method: 'GET' }), async () => {
      started.resolve();
      await go.promise;
      return { done: true };
    });
    const { port, server } = await aListeningServer([slow]);
    const wire = new Wire(port).send(get(port, '/v1/things'));
    await started.promise;
    const drained = server.drain(60_000);
    go.resolve();
    await drained;
    const received = await wire.all();
    expect(received).toContain('"done":true');
    expect(received).toMatch(/connection: close/i);
  });

  test('rejects new requests, on open and new connections', async () => {
    const { port, server } = await aListeningServer([openStream, ping]);
    const stream = new Wire(port).send(get(port, '/v1/stream'));
    const open = new Wire(port).send(get(port));
    await stream.until(/started/);
    await open.until(/pong/);
    const drained = server.drain(60_000);
    for (const wire of [open, new Wire(port)]) {
      const received = await wire.send(get(port)).all();
      expect(statusesIn(received).at(-1)).toBe(503);
      expect(received).toContain('"type":"unavailable","code":"unavailable"');
      expect(received).toMatch(/connection: close/i);
      expect(received).toMatch(/retry-after: \d/);
    }
    stream.socket.destroy();
    await drained;
  });

  test('lets trusted proxies go elsewhere, and answers what they have sent', async () => {
    const ready = implement(anEndpoint({ method: 'GET', path: '/readyz' }), async () => ({}));
    const { port, server } = await aListeningServer([openStream, ping, ready], {
      trustedProxies: ['127.0.0.1'],
      limits: { proxyNoticeMs: 2_000 },
    });
    const open = Array.from({ length: 5 }, () => new Wire(port).send(get(port)));
    for (const wire of open) await wire.until(/pong/);
    let isLeft = false;
    const left = server.leave(60_000).then(() => {
      isLeft = true;
    });
    expect(statusesIn(await new Wire(port).send(get(port, '/readyz')).all())).toEqual([503]);
    const late = await new Wire(port).send(get(port)).all();
    expect(late).toMatch(/connection: close[\s\S]*pong/i);
    await eventually('it listens no more', async () => {
      const wire = new Wire(port).send(get(port));
      return statusesIn(await wire.all()).length === 0;
    });
    for (const wire of open) {
      expect(isLeft).toBe(false);
      expect(statusesIn(await wire.send(get(port)).all())).toEqual([200, 200]);
    }
    await left;
  });

  test('does not wait for proxies longer than until the deadline, and refuses them then', async () => {
    const { port, server } = await aListeningServer([ping], { trustedProxies: ['127.0.0.1'] });
    const open = new Wire(port).send(get(port));
    await open.until(/pong/);
    await server.leave(10);
    await server.drain(10);
    expect(statusesIn(await open.send(get(port)).all())).toEqual([200, 503]);
  });

  test('closes idle connections of proxies after a while, and those of others at once', async () => {
    const { port, server } = await aListeningServer([ping], {
      trustedProxies: ['127.0.0.1'],
      limits: { proxyNoticeMs: 1, leavingIdleMs: 20 },
    });
    const idle = new Wire(port).send(get(port));
    await idle.until(/pong/);
    await server.leave(60_000);
    expect(statusesIn(await idle.all())).toEqual([200]);

    const direct = await aListeningServer([ping]);
    const open = new Wire(direct.port).send(get(direct.port));
    await open.until(/pong/);
    await direct.server.leave(60_000);
    await direct.server.close();
    expect(statusesIn(await open.all())).toEqual([200]);
  });

  test('goes on refusing those who are no trusted proxies', async () => {
    const { port, server } = await aListeningServer([ping], { trustedProxies: ['10.0.0.1'] });
    const left = server.leave(60_000);
    expect(statusesIn(await new Wire(port).send(get(port)).all())).toEqual([503]);
    await left;
  });

  test('lets many streams write their last event at the deadline', async () => {
    const { port, server, finished } = await aListeningServer([openStream]);
    const wires = Array.from({ length: 200 }, () => new Wire(port).send(get(port, '/v1/stream')));
    await Promise.all(wires.map((wire) => wire.until(/started/)));
    await server.drain(10);
    await server.close();
    for (const wire of wires)
      expect(await wire.all()).toMatch(/data: draining\n\ndata: \[DONE\]\n\n\r\n0\r\n\r\n$/);
    expect(finished.filter(({ aborted }) => aborted)).toEqual([]);
  });

  test('reports a call that gives up at the deadline as unavailable', async () => {
    const started = gate();
    const slow = implement(anEndpoint({ method: 'GET' }), async ({ signal }) => {
      started.resolve();
      await once(signal, 'abort');
      throw signal.reason;
    });
    const { port, server, logged } = await aListeningServer([slow]);
    const wire = new Wire(port).send(get(port, '/v1/things'));
    await started.promise;
    await server.drain(0);
    expect(statusesIn(await wire.all())).toEqual([503]);
    expect(logged).toEqual([]);
  });

  test('closes connections that do not end', async () => {
    const started = gate();
    const deaf = implement(anEndpoint({ method: 'GET' }), () => {
      started.resolve();
      return new Promise<RelayReply>(() => {});
    });
    const { port, server } = await aListeningServer([deaf], { limits: { drainGraceMs: 20 } });
    const wire = new Wire(port).send(get(port, '/v1/things'));
    await started.promise;
    await server.drain(10);
    expect(await wire.all()).toBe('');
    await server.close();
  });

  test('waits for the cleanup of calls whose client disconnected', async () => {
    const started = gate();
    const settle = gate();
    const log: string[] = [];
    const handler = implement(anEndpoint({ method: 'GET' }), async ({ signal }) => {
      started.resolve();
      await once(signal, 'abort');
      await settle.promise;
      log.push('settled');
      return {};
    });
    const { port, server, finished } = await aListeningServer([handler]);
    const wire = new Wire(port).send(get(port, '/v1/things'));
    await started.promise;
    wire.socket.destroy();
    await expect.poll(() => finished.length).toBe(1);
    const drained = server.drain(60_000).then(() => log.push('drained'));
    settle.resolve();
    await drained;
    expect(log).toEqual(['settled', 'drained']);
  });

  test('can be shortened', async () => {
    const { port, server } = await aListeningServer([openStream]);
    const wire = new Wire(port).send(get(port, '/v1/stream'));
    await wire.until(/started/);
    const long = server.drain(60_000);
    await server.drain(5);
    await long;
    await wire.until(/data: draining/);
  });
});

describe('closing', () => {
  test('does not wait for idle connections or incomplete requests', async () => {
    const { port, server } = await aListeningServer([ping]);
    const idle = new Wire(port).send(get(port));
    await idle.until(/pong/);
    const halfway = new Wire(port).send('GET /v1/ping HTTP/1.1\r\nHost: lo');
    await once(halfway.socket, 'connect');
    await server.close();
    await Promise.all([idle.all(), halfway.all()]);
    await expect(fetch(`http://127.0.0.1:${port}/v1/ping`)).rejects.toThrow();
  });

  test('can be called twice, and before listening', async () => {
    const { server } = await aServer([ping]);
    await Promise.all([server.close(), server.close()]);
  });
});

describe('a WebSocket handshake', () => {
  const endpoint = anEndpoint({
    id: 'create',
    path: '/v1/responses',
    access: { apiKey: 'responses' },
    unauthorizedType: 'unauthorized',
  });
  const handler = implement(endpoint, async () => ({}));
  const handshake = (port: number, headers = '', path = '/v1/responses') =>
    `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`;

  test.each([
    ['without a key', '', 401, 'unauthorized'],
    ['with a wrong key', 'Authorization: Bearer wrong\r\n', 401, 'unauthorized'],
    ['from our own origin without a key', 'Origin: http://localhost:PORT\r\n', 401, 'unauthorized'],
    [
      'from another origin',
      'Origin: https://evil.example\r\nAuthorization: Bearer login\r\n',
      403,
      'permission',
    ],
    ['where there is none', 'Authorization: Bearer login\r\n', 405, 'invalid_request'],
  ])('%s is rejected and its connection closed', async (_what, headers, status, type) => {
    const { port, server } = await aListeningServer([handler]);
    const wire = new Wire(port).send(handshake(port, headers.replace('PORT', String(port))));
    const received = await wire.all();
    expect(statusesIn(received)).toEqual([status]);
    expect(received).toContain(`"type":"${type}"`);
    expect(received).toMatch(/x-request-id: req_\d+/);
    await server.close();
  });

  test('with early frames cannot reach another endpoint', async () => {
    const { port } = await aListeningServer([handler, ping]);
    const wire = new Wire(port).send(handshake(port) + get(port));
    const received = await wire.all();
    expect(received).not.toContain('pong');
  });

  test('can be decided asynchronously', async () => {
    const authenticate = async () => {
      throw new ApiError('unauthenticated');
    };
    const { port } = await aListeningServer([handler], { authenticate });
    expect(statusesIn(await new Wire(port).send(handshake(port)).all())).toEqual([401]);
  });

  test('an HTTP/2 offer is not a handshake', async () => {
    const { port } = await aListeningServer([ping]);
    const wire = new Wire(port).send(
      `GET /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    );
    expect(statusesIn(await wire.until(/pong/))).toEqual([200]);
  });
});

describe('requests that follow on a connection before the first is answered', () => {
  const whole = implement(anEndpoint({ method: 'GET', path: '/v1/slow' }), aborted);
  const stream = { event: {}, done: true, always: true } as const;
  const streamed = implement(
    anEndpoint({ method: 'GET', path: '/v1/slow', stream }),
    async (call) => new StreamReply({}, endless(call)),
  );
  const upgrade = 'GET /v1/slow HTTP/1.1\r\nconnection: upgrade\r\nupgrade: ';
  const last = {
    'a reset': '',
    'a tunnel': 'CONNECT a:1 HTTP/1.1\r\n\r\n',
    'a WebSocket': `${upgrade}websocket\r\n\r\n`,
    'another protocol': `${upgrade}h2c\r\n\r\n`,
  };
  const cases = Object.entries(last).flatMap(([name, text]) => [
    [name, 'whole', text, whole] as const,
    [name, 'streamed', text, streamed] as const,
  ]);
  test.each(cases)('end with it after %s when their answers are %s', async (name, _how, text, slow) => {
    const { port, server } = await aListeningServer([slow, ping]);
    const wire = new Wire(port).send(get(port, '/v1/slow').repeat(20) + get(port));
    await eventually('all run', () => server.running().requests === 21);
    wire.send(text);
    if (name === 'a reset') wire.socket.resetAndDestroy();
    await eventually('all have ended', () => server.running().requests === 0);
    expect(server.running().streams).toBe(0);
  });

  test('are not answered before it', async () => {
    const go = gate();
    const slow = implement(anEndpoint({ method: 'GET', path: '/v1/slow' }), async () => {
      await go.promise;
      return { slow: true };
    });
    const { port } = await aListeningServer([slow, ping]);
    const wire = new Wire(port).send(get(port, '/v1/slow') + get(port) + get(port));
    go.resolve();
    const received = await wire.until(/(pong.*){2}/s);
    expect(received).toMatch(/slow.*pong.*pong/s);
    const tunnel = new Wire(port).send(`${get(port, '/v1/slow')}CONNECT a:1 HTTP/1.1\r\n\r\n`);
    expect(await tunnel.all()).not.toContain('HTTP/1.1 404');
  });
});

async function aborted({ signal }: { signal: AbortSignal }): Promise<never> {
  await once(signal, 'abort');
  throw new Error('the client left');
}

/** A stream with more text than its client reads, until it is aborted. */
async function* endless({ signal }: { signal: AbortSignal }): AsyncGenerator<string> {
  while (!signal.aborted) yield `data: ${'x'.repeat(100_000)}\n\n`;
}

describe('connections', () => {
  test('are closed after a maximum number of requests', async () => {
    const { port } = await aListeningServer([ping], { limits: { requestsPerConnectionMax: 2 } });
    const wire = new Wire(port).send(get(port));
    await wire.until(/pong/);
    const received = await wire.send(get(port)).all();
    expect(statusesIn(received)).toEqual([200, 200]);
  });

  test('are closed after an idle timeout', async () => {
    const { port } = await aListeningServer([ping], { limits: { keepAliveTimeoutMs: 20 } });
    expect(statusesIn(await new Wire(port).send(get(port)).all())).toEqual([200]);
  });

  test('are not closed if a request arrived in time, during a pause of the process', async () => {
    const { port } = await aListeningServer([ping], { limits: { keepAliveTimeoutMs: 20 } });
    const wire = new Wire(port).send(get(port));
    await wire.until(/pong/);
    wire.send(get(port));
    // Node closes a second later than it says.
    pauseProcess(1_100);
    expect(statusesIn(await wire.all())).toEqual([200, 200]);
  });

  test('are closed while they are idle, when there are too many', async () => {
    const { port } = await aListeningServer([ping], { limits: { connectionsMax: 2 } });
    const idle = [1, 2].map(() => new Wire(port).send(get(port)));
    await Promise.all(idle.map((wire) => wire.until(/pong/)));
    expect(await new Wire(port).send(get(port)).all()).toBe('');
    expect((await Promise.all(idle.map((wire) => wire.all()))).flatMap(statusesIn)).toEqual([200, 200]);
    await new Wire(port).send(get(port)).until(/pong/);
  });

  test('are not closed for others while their answer is being sent', async () => {
    const length = 20_000_000;
    const large = implement(anEndpoint({ method: 'GET', path: '/v1/large' }), async () => ({
      text: 'x'.repeat(length),
    }));
    const { port } = await aListeningServer([large, ping], { limits: { connectionsMax: 2 } });
    const slow = new Wire(port).send(get(port, '/v1/large').replace('\r\n', '\r\nConnection: close\r\n'));
    await slow.until(/200 OK/);
    slow.socket.pause();
    const idle = new Wire(port).send(get(port));
    await idle.until(/pong/);
    expect(await new Wire(port).send(get(port)).all()).toBe('');
    await idle.all();
    slow.socket.resume();
    expect((await slow.all()).length).toBeGreaterThan(length);
  });

  test('reserve descriptors for providers and files', async () => {
    expect(connectionsMaxFor(32_768)).toBe(16_256);
    expect(connectionsMaxFor(256)).toBe(16);
    if (process.platform === 'linux') expect(openFilesMax()).toBeGreaterThan(0);
    const { port } = await aListeningServer([openStream], { limits: { connectionsMax: 2 } });
    const wires = [1, 2].map(() => new Wire(port).send(get(port, '/v1/stream')));
    await Promise.all(wires.map((wire) => wire.until(/started/)));
    expect(await new Wire(port).all()).toBe('');
  });

  test('two servers cannot share a port', async () => {
    const { port } = await aListeningServer([ping]);
    const { server } = await aServer([ping]);
    await expect(server.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
