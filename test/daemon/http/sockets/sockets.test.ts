import { Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { implement, SocketReply, StreamReply, type Turn } from '../../../../src/daemon/base/handler.ts';
import type { HttpServerOptions } from '../../../../src/daemon/http/server-options.ts';
import { framesOf } from '../../../../src/daemon/http/sockets/open-socket.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { sseDone, sseEvent } from '../../../../src/shared/http/sse.ts';
import { eventually } from '../../../support/eventually.ts';
import { openSocket } from '../../../support/socket-client.ts';
import {
  aListeningServer,
  anEndpoint,
  authenticate,
  gate,
  keyWith,
  ping,
  statusesIn,
  Wire,
} from '../http-fixture.ts';

const say = Type.Object({ type: Type.Literal('say'), text: Type.String() }, { additionalProperties: true });
const endpoint = anEndpoint({
  id: 'talk',
  method: 'GET',
  path: '/v1/responses',
  access: { apiKey: 'responses' },
  unauthorizedType: 'unauthorized',
  socket: { message: say, event: Type.Unknown(), messageLimit: 64 * 1024 },
});
type Said = Turn<{ type: 'say'; text: string }>;

function talk(take: (turn: Said) => Promise<StreamReply> | StreamReply) {
  return implement(
    endpoint as typeof endpoint & { socket: object },
    (async () => new SocketReply<Said['message']>(async (turn) => take(turn))) as never,
  );
}

async function* chunks(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

const event = (json: object, type?: string) => sseEvent(JSON.stringify(json), type);
const echo = talk(
  ({ message, requestId }) =>
    new StreamReply({}, chunks(event({ type: 'echo', text: message.text, requestId }), sseDone)),
);

const key = 'key:responses';

async function aSocket(handler = echo, options: Partial<HttpServerOptions> = {}, as = key) {
  const fixture = await aListeningServer([handler, ping], options);
  const client = await openSocket(`${fixture.url}/v1/responses`, { key: as, event: Type.Unknown() });
  return { ...fixture, client };
}

test('a socket that waits for its answer is not idle while a daemon behind a proxy stops', async () => {
  const go = gate();
  const started = gate();
  const slow = talk(({ message }) => {
    started.resolve();
    return new StreamReply({}, later(message.text));
  });
  async function* later(text: string) {
    await go.promise;
    yield event({ type: 'echo', text });
    yield sseDone;
  }
  const { client, server, port } = await aSocket(slow, {
    trustedProxies: ['127.0.0.1'],
    limits: { proxyNoticeMs: 1, leavingIdleMs: 20 },
  });
  const idle = new Wire(port).send(`GET /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
  await idle.until(/pong/);
  client.send({ type: 'say', text: 'Hi' });
  await started.promise;
  const left = server.leave(60_000);
  await idle.all();
  go.resolve();
  expect(await client.next()).toMatchObject({ type: 'echo', text: 'Hi' });
  await left;
});

describe('a handshake', () => {
  test('opens a socket with a request id and without compression', async () => {
    const { client } = await aSocket();
    expect(client.upgrade.statusCode).toBe(101);
    expect(client.upgrade.headers['x-request-id']).toMatch(/^req_\d+$/);
    expect(client.upgrade.headers['x-service-version']).toBe('1.2.3');
    expect(client.upgrade.headers['sec-websocket-extensions']).toBeUndefined();
    client.send({ type: 'say', text: 'Hello.' });
    expect(await client.next()).toMatchObject({ type: 'echo', text: 'Hello.' });
  });

  test.each([
    ['without a key', {}, 401, 'unauthorized'],
    ['with a wrong key', { authorization: 'Bearer wrong' }, 401, 'unauthorized'],
    ['with a key that lacks the scope', { authorization: 'Bearer key:keys' }, 403, 'permission'],
    ['with the key in the address', {}, 401, 'unauthorized'],
    ['of a page on this machine without a key', { origin: 'http://localhost:3000' }, 403, 'permission'],
    [
      'of a foreign page',
      { origin: 'https://evil.example', authorization: `Bearer ${key}` },
      403,
      'permission',
    ],
    ['by a foreign name', { host: 'evil.example', authorization: `Bearer ${key}` }, 403, 'permission'],
    [
      'with a protocol that is none',
      { 'sec-websocket-protocol': ',,', authorization: `Bearer ${key}` },
      400,
      'invalid_request',
    ],
  ])('%s is rejected like any request, and its connection closes', async (what, headers, status, type) => {
    const { url, server } = await aListeningServer([echo]);
    const address = `${url}/v1/responses${what.includes('address') ? `?key=${key}` : ''}`;
    const refusal = await openSocket(address, {
      headers: headers as unknown as Record<string, string>,
    }).catch((it) => it);
    expect(refusal.status).toBe(status);
    const { error } = JSON.parse(refusal.body);
    expect(error.type).toBe(type);
    expect(refusal.headers['x-request-id']).toBe(error.request_id);
    expect(refusal.headers.connection).toBe('close');
    // It would wait for an open connection.
    await server.close();
  });

  test('without a WebSocket key is rejected', async () => {
    const { port } = await aListeningServer([echo]);
    const wire = new Wire(port).send(
      `GET /v1/responses HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    expect(statusesIn(await wire.all())).toEqual([400]);
  });

  test('a plain request to the path returns an explanation', async () => {
    const { url } = await aListeningServer([echo]);
    const answer = await fetch(`${url}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: unknown }).error).toMatchObject({ code: 'invalid_request' });
  });

  test('an HTTP/2 offer with a body is served as if it had not been made', async () => {
    const taken = implement(anEndpoint({ path: '/v1/taken', body: Type.Unknown() }), async ({ body }) => ({
      body,
    }));
    const { port } = await aListeningServer([taken, ping]);
    const wire = new Wire(port).send(
      `POST /v1/taken HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"a":"b`,
    );
    wire.send('cd"}');
    // The connection stays usable.
    await wire.until(/bcd/);
    wire.send(`GET /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    expect(statusesIn(await wire.until(/pong/))).toEqual([200, 200]);
  });

  test('during a response ends the connection', async () => {
    const open = gate();
    const slow = implement(anEndpoint({ method: 'GET', path: '/v1/slow' }), async () => {
      await open.promise;
      return { late: true };
    });
    const { port } = await aListeningServer([echo, slow]);
    const wire = new Wire(port).send(
      `GET /v1/slow HTTP/1.1\r\nHost: localhost:${port}\r\n\r\nGET /v1/responses HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    expect(await wire.all()).not.toContain('HTTP/1.1 101');
    open.resolve();
  });

  test('HTTP/2 offers during a response end the connection and leave no call running', async () => {
    const open = gate();
    const slow = implement(anEndpoint({ method: 'GET', path: '/v1/slow' }), async () => {
      await open.promise;
      return { late: true };
    });
    const { port, server } = await aListeningServer([slow, ping]);
    const offer = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`;
    const wire = new Wire(port).send(offer('/v1/slow') + offer('/v1/ping').repeat(20));
    await wire.all();
    open.resolve();
    await eventually('nothing runs', () => server.running().requests === 0);
  });
});

describe('messages', () => {
  test('are processed in order, each with its own id', async () => {
    let running = 0;
    const handler = talk(({ message, requestId }) => {
      running += 1;
      expect(running).toBe(1);
      return new StreamReply(
        {},
        (async function* () {
          yield event({ type: 'one', text: message.text, requestId }) +
            event({ type: 'two', text: message.text });
          await new Promise(setImmediate);
          running -= 1;
        })(),
      );
    });
    const { client } = await aSocket(handler);
    for (let i = 0; i < 10; i += 1) client.send({ type: 'say', text: String(i) });
    await client.next(({ type, text }) => type === 'two' && text === '9');
    expect(client.events.map(({ type, text }) => `${type} ${text}`)).toEqual(
      Array.from({ length: 10 }, (_, i) => [`one ${i}`, `two ${i}`]).flat(),
    );
    expect(new Set(client.events.map(({ requestId }) => requestId)).size).toBe(11);
  });

  test.each([
    ['text that is no JSON', '{"type":', 'invalid_json', null],
    ['an empty frame', '', 'invalid_json', null],
    ['nested too deep', `${'['.repeat(100)}${']'.repeat(100)}`, 'invalid_json', null],
    ['a binary frame', Buffer.from('{"type":"say","text":"Hello."}'), 'invalid_request', null],
    ['a list', '[]', 'invalid_request', null],
    ['another type', { type: 'response.steer' }, 'invalid_request', 'type'],
    ['a type that is no text', { type: { toString: 1 } }, 'invalid_request', 'type'],
    ['a list as the type', { type: ['say'], text: 'Hello.' }, 'invalid_request', 'type'],
    ['no type', { text: 'Hello.' }, 'invalid_request', 'type'],
    ['a missing member', { type: 'say' }, 'invalid_request', 'text'],
    ['a wrong member', { type: 'say', text: 7 }, 'invalid_request', 'text'],
  ])('%s is reported in a frame, and the socket stays open', async (_what, message, code, param) => {
    const { client } = await aSocket();
    client.send(message as string);
    expect(await client.next()).toEqual({
      type: 'error',
      status: 400,
      error: {
        type: 'invalid_request',
        code,
        message: expect.any(String),
        param,
        request_id: expect.stringMatching(/^req_/),
      },
    });
    client.send({ type: 'say', text: 'Still there.' });
    expect(await client.next()).toMatchObject({ text: 'Still there.' });
  });

  test('an error of the handler is reported in a frame, without internals', async () => {
    let count = 0;
    const { client, logged } = await aSocket(
      talk(() => {
        count += 1;
        if (count === 1) throw new ApiError('insufficient_balance', { extra: { balance_usd: '0.5' } });
        throw new Error('a secret of ours');
      }),
    );
    const [paid] = await client.ask({ type: 'say', text: '' });
    expect(paid).toMatchObject({ status: 402, error: { code: 'insufficient_balance', balance_usd: '0.5' } });
    const [broken] = await client.ask({ type: 'say', text: '' });
    expect(broken).toMatchObject({ status: 500, error: { code: 'server_error' } });
    expect(JSON.stringify(broken)).not.toContain('secret');
    expect(logged).toHaveLength(1);
  });

  test('have a bounded queue; excess ones are rejected immediately', async () => {
    const open = gate();
    const handler = talk(async ({ message }) => {
      await open.promise;
      return new StreamReply({}, chunks(event({ type: 'echo', text: message.text })));
    });
    const { client } = await aSocket(handler, { limits: { socketMessagesWaitingMax: 2 } });
    for (const text of ['1', '2', '3', '4', '5']) client.send({ type: 'say', text });
    const isError = ({ type }: { type: string }) => type === 'error';
    expect(await client.next(isError)).toMatchObject({ status: 429, error: { code: 'rate_limited' } });
    expect(await client.next(isError)).toMatchObject({ status: 429 });
    open.resolve();
    await client.next(({ text }) => text === '3');
    expect(client.events.filter(({ text }) => text).map(({ text }) => text)).toEqual(['1', '2', '3']);
  });

  test('have a queue limited in bytes too', async () => {
    const open = gate();
    const handler = talk(async ({ message }) => {
      await open.promise;
      return new StreamReply({}, chunks(event({ type: 'echo', length: message.text.length })));
    });
    const { client } = await aSocket(handler);
    for (const length of [40_000, 40_001, 40_002]) client.send({ type: 'say', text: 'a'.repeat(length) });
    expect(await client.next()).toMatchObject({ status: 429 });
    open.resolve();
    await client.next(({ length }) => length === 40_001);
    client.send({ type: 'say', text: 'a' });
    expect(await client.next()).toMatchObject({ length: 1 });
  });

  test('that are too long close the socket with 1009', async () => {
    const { client } = await aSocket();
    client.send({ type: 'say', text: 'a'.repeat(65_536) });
    expect(await client.closed).toMatchObject({ code: 1009 });
  });

  test('that are not UTF-8 close the socket with 1007', async () => {
    const { client } = await aSocket();
    client.webSocket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
    expect(await client.closed).toMatchObject({ code: 1007 });
  });
});

describe('a socket closes', () => {
  /** A response that runs until its signal aborts; `ended` counts finished ones. */
  function endless() {
    const ended: string[] = [];
    const handler = talk(
      ({ signal }) =>
        new StreamReply(
          {},
          (async function* () {
            try {
              yield event({ type: 'begun' });
              if (!signal.aborted)
                await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
              yield event({ type: 'over', reason: String(signal.reason) });
            } finally {
              ended.push(String(signal.reason));
            }
          })(),
        ),
    );
    return { handler, ended };
  }

  test.each(['close', 'terminate'] as const)(
    'with its response when the client disconnects (%s)',
    async (how) => {
      const { handler, ended } = endless();
      const { client, finished } = await aSocket(handler);
      client.send({ type: 'say', text: '' });
      await client.next();
      client.webSocket[how]();
      await eventually('the answer is over', () => ended.length === 1);
      expect(ended).toEqual(['client-left']);
      await eventually('the call is over', () => finished.length === 1);
      expect(finished[0]).toMatchObject({ status: 101, requestId: 'req_1' });
    },
  );

  test('with a reason when its key is revoked', async () => {
    const revoked = new AbortController();
    const caller = { ...keyWith('responses'), revoked: revoked.signal };
    const { client } = await aSocket(echo, { authenticate: () => caller });
    revoked.abort(new ApiError('unauthenticated', { message: 'The key was revoked.' }));
    expect(await client.next()).toMatchObject({
      status: 401,
      error: { type: 'unauthorized', code: 'unauthenticated', message: 'The key was revoked.' },
    });
    expect(await client.closed).toMatchObject({ code: 1008 });
  });

  test('at the first message after its credential became invalid', async () => {
    let calls = 0;
    const { client } = await aSocket(echo, {
      authenticate: (authorization) => {
        calls += 1;
        return calls === 1 ? authenticate(authorization) : keyWith('keys');
      },
    });
    const [reported] = await client.ask({ type: 'say', text: 'Hello.' });
    expect(reported).toMatchObject({ status: 403, error: { code: 'out_of_scope' } });
    expect(await client.closed).toMatchObject({ code: 1008 });
  });

  test('not when the credential could not be looked up this time', async () => {
    let calls = 0;
    const { client } = await aSocket(echo, {
      authenticate: (authorization) => {
        calls += 1;
        if (calls === 2) throw new ApiError('unavailable');
        return authenticate(authorization);
      },
    });
    const [reported] = await client.ask({ type: 'say', text: 'Hello.' });
    expect(reported).toMatchObject({ status: 503 });
    client.send({ type: 'say', text: 'Hello.' });
    expect(await client.next()).toMatchObject({ type: 'echo', text: 'Hello.' });
  });

  test('after its maximum lifetime, once the current response has ended', async () => {
    const open = gate();
    const handler = talk(
      () =>
        new StreamReply(
          {},
          (async function* () {
            yield event({ type: 'begun' });
            await open.promise;
            yield event({ type: 'response.completed' });
          })(),
        ),
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const socketLifetimeMs = 3_600_000;
    const { client } = await aSocket(handler, { limits: { socketLifetimeMs } });
    client.send({ type: 'say', text: '' });
    await client.next();
    vi.advanceTimersByTime(socketLifetimeMs);
    open.resolve();
    expect(await client.next()).toMatchObject({ type: 'response.completed' });
    expect(await client.next()).toMatchObject({
      type: 'error',
      error: { code: 'websocket_connection_limit_reached' },
    });
    expect(await client.closed).toMatchObject({ code: 1000 });
  });

  test('when the daemon stops: immediately if idle', async () => {
    const { client, server } = await aSocket();
    // Longer than a test may take.
    await server.drain(600_000);
    expect(await client.closed).toMatchObject({ code: 1001 });
  });

  test('when the daemon stops: at the deadline during a response', async () => {
    const { handler } = endless();
    const { client, server } = await aSocket(handler);
    client.send({ type: 'say', text: '' });
    await client.next();
    await server.drain(50);
    expect(await client.next()).toMatchObject({ type: 'over', reason: 'draining' });
    expect(await client.closed).toMatchObject({ code: 1001 });
  });

  test('when its peer answers no pings', async () => {
    const { port } = await aListeningServer([echo], { limits: { heartbeatMs: 20 } });
    const wire = new Wire(port).send(
      `GET /v1/responses HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    expect(await wire.all()).toContain('101 Switching Protocols');
  });

  test('never while its peer answers pings', async () => {
    const { client } = await aSocket(echo, { limits: { heartbeatMs: 10 } });
    let pings = 0;
    client.webSocket.on('ping', () => {
      pings += 1;
    });
    await eventually('many pings were sent', () => pings > 8);
    expect(client.isClosed).toBe(false);
    client.webSocket.ping('Are you there?');
    const answered = await new Promise((resolve) =>
      client.webSocket.once('pong', (data) => resolve(String(data))),
    );
    expect(answered).toBe('Are you there?');
  });

  test('when its peer reads nothing, without unbounded buffering', async () => {
    let made = 0;
    let isOver = false;
    const text = 'a'.repeat(10_000);
    const handler = talk(
      () =>
        new StreamReply(
          {},
          (async function* () {
            try {
              for (;;) {
                made += 1;
                yield event({ type: 'more', text });
              }
            } finally {
              isOver = true;
            }
          })(),
        ),
    );
    const { client } = await aSocket(handler, { limits: { stalledReaderMs: 100 } });
    client.webSocket.pause();
    client.send({ type: 'say', text: '' });
    await eventually('the answer is over', () => isOver);
    expect(made * text.length).toBeLessThan(32 * 1024 * 1024);
  });
});

test.each([
  ['nothing', '', []],
  ['a comment', ': keep-alive\n\n', []],
  [
    'events with and without a name',
    `${sseEvent('{"a":1}', 'x')}${sseEvent('{"b":2}')}${sseDone}`,
    ['{"a":1}', '{"b":2}'],
  ],
  [
    'text that looks like an event',
    sseEvent(JSON.stringify({ text: 'data: x\n\ndata: [DONE]\n\n' })),
    [JSON.stringify({ text: 'data: x\n\ndata: [DONE]\n\n' })],
  ],
])('the frames of %s', (_what, events, frames) => {
  expect(framesOf(events)).toEqual(frames);
});
