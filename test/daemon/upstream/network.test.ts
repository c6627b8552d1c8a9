import { createHook } from 'node:async_hooks';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { IncomingBody, OutgoingRequest } from '../../../src/daemon/base/world.ts';
import { createNetwork, type NetworkSettings } from '../../../src/daemon/upstream/network.ts';
import { pauseProcess } from '../../support/pause-process.ts';
import { chunk, chunkedHead, lastChunk, startRawServer, wholeAnswer } from '../../support/raw-server.ts';

function network(settings?: NetworkSettings) {
  const made = createNetwork(settings);
  onTestFinished(() => made.close());
  return made;
}

const post = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{}',
  ...more,
});

async function textOf(body: IncomingBody): Promise<string> {
  return Buffer.from(await body.bytes(1024 * 1024)).toString('utf8');
}

/** Reads until the end; returns the chunks. */
async function piecesOf(body: IncomingBody): Promise<string[]> {
  const pieces: string[] = [];
  for await (const bytes of body) pieces.push(Buffer.from(bytes).toString('utf8'));
  return pieces;
}

describe('an ordinary call', () => {
  test('sends method, path, query, headers and body, and requests no compression', async () => {
    const requests: string[] = [];
    const server = await startRawServer((socket, request) => {
      requests.push(request);
      socket.write(wholeAnswer('{"ok":true}'));
    });
    const { send } = network();
    const answer = await send(
      post(`${server.url}/v1/x?y=1`, { headers: { authorization: 'Bearer k' }, body: '{"a":"ü"}' }),
    );
    expect(answer.status).toBe(200);
    expect(await textOf(answer.body)).toBe('{"ok":true}');
    expect(requests[0]).toContain('POST /v1/x?y=1 HTTP/1.1\r\n');
    expect(requests[0]).toContain('authorization: Bearer k\r\n');
    expect(requests[0]).toContain('accept-encoding: identity\r\n');
    expect(Buffer.from(requests[0] ?? '', 'latin1').toString('utf8')).toMatch(/\{"a":"ü"\}$/);
  });

  test('returns header names in lower case, and the last value of a repeated header', async () => {
    const server = await startRawServer((socket) =>
      socket.write(
        wholeAnswer('{}', { headers: ['X-Request-Id: one', 'x-request-id: two', 'Retry-After: 3'] }),
      ),
    );
    const { headers } = await network().send(post(server.url));
    expect(headers).toMatchObject({ 'x-request-id': 'two', 'retry-after': '3' });
  });

  test('returns all challenges, of which servers send several', async () => {
    const challenges = ['L402 macaroon="a", invoice="b"', 'Payment id="c"', 'Basic realm="d"'];
    const headers = challenges.map((challenge) => `WWW-Authenticate: ${challenge}`);
    const server = await startRawServer((socket) => socket.write(wholeAnswer('{}', { headers })));
    const answer = await network().send(post(server.url));
    expect(answer.headers['www-authenticate']).toBe(challenges.join(', '));
  });

  test('reuses a connection for consecutive calls', async () => {
    const server = await startRawServer((socket) => socket.write(wholeAnswer('{}')));
    const { send } = network();
    for (let i = 0; i < 10; i += 1) await textOf((await send(post(server.url))).body);
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test('is sent again when its connection breaks before the answer, if it only reads', async () => {
    const server = await startRawServer((socket) => {
      if (server.connections === 1) socket.destroy();
      else socket.write(wholeAnswer('{"ok":true}'));
    });
    const { send } = network();
    const answer = await send({ method: 'GET', url: server.url, headers: {} });
    expect(await textOf(answer.body)).toBe('{"ok":true}');
    expect(server.connections).toBe(2);
  });

  test('is not sent a third time, nor twice if it may change something', async () => {
    const server = await startRawServer((socket) => socket.destroy());
    const { send } = network();
    await expect(send({ method: 'GET', url: server.url, headers: {} })).rejects.toMatchObject({
      kind: 'reset',
    });
    expect(server.connections).toBe(2);
    await expect(send(post(server.url))).rejects.toMatchObject({ kind: 'reset' });
    expect(server.connections).toBe(3);
  });

  test('does not follow a redirect', async () => {
    const elsewhere = await startRawServer((socket) => socket.write(wholeAnswer('{}')));
    const server = await startRawServer((socket) =>
      socket.write(wholeAnswer('', { status: '302 Found', headers: [`location: ${elsewhere.url}/x`] })),
    );
    expect((await network().send(post(server.url))).status).toBe(302);
    expect(elsewhere.connections).toBe(0);
  });

  test('returns the same bytes however the answer is split', async () => {
    const body = 'data: {"text":"Grüße, 世界 🌍"}\n\ndata: [DONE]\n\n';
    const bytes = Buffer.from(chunkedHead() + chunk(body) + lastChunk);
    const server = await startRawServer((socket) => {
      for (const byte of bytes) socket.write(Buffer.of(byte));
    });
    const answer = await network().send(post(server.url));
    expect(await textOf(answer.body)).toBe(body);
  });

  test('returns everything from one read as one chunk', async () => {
    const events = Array.from({ length: 100 }, (_, i) => `data: ${i}\n\n`);
    const server = await startRawServer((socket) =>
      socket.write(chunkedHead() + events.map(chunk).join('') + lastChunk),
    );
    const answer = await network().send(post(server.url));
    expect(await piecesOf(answer.body)).toEqual([events.join('')]);
  });

  test('returns an empty body as no chunk and no bytes', async () => {
    const server = await startRawServer((socket) => socket.write(wholeAnswer('')));
    const { send } = network();
    expect(await piecesOf((await send(post(server.url))).body)).toEqual([]);
    expect(await textOf((await send(post(server.url))).body)).toBe('');
  });
});

describe('failures', () => {
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.unreachable('it should have failed'),
      (error: unknown) => error as { name: string; kind: string; message: string },
    );

  test('no listener: refused', async () => {
    const server = await startRawServer((socket) => socket.destroy());
    const closed = `http://127.0.0.1:${server.port === 1 ? 2 : 1}`;
    expect(await failureOf(network().send(post(closed)))).toMatchObject({
      name: 'NetworkFailure',
      kind: 'refused',
    });
  });

  test('an unknown host: unresolved', async () => {
    // Longer than a DNS label may be, so no resolver sends a query.
    expect(await failureOf(network().send(post(`http://${'x'.repeat(64)}.invalid`)))).toMatchObject({
      kind: 'unresolved',
      message: expect.stringContaining('resolved'),
    });
  });

  test('a connection that is never established: connect-timeout', async () => {
    // The TLS handshake waits for an answer that a silent server never sends.
    const server = await startRawServer(() => undefined);
    const { send } = network({ connectTimeoutMs: 50 });
    expect(await failureOf(send(post(`https://127.0.0.1:${server.port}`)))).toMatchObject({
      kind: 'connect-timeout',
    });
  });

  test('no headers: headers-timeout', async () => {
    const server = await startRawServer(() => undefined);
    const failure = failureOf(network().send(post(server.url, { headersTimeoutMs: 30 })));
    expect(await failure).toMatchObject({ kind: 'headers-timeout' });
    await server.allClosed();
  });

  test('a stall in the middle: idle-timeout, after the bytes before it', async () => {
    const server = await startRawServer((socket) => socket.write(chunkedHead() + chunk('data: 1\n\n')));
    const answer = await network().send(post(server.url, { idleTimeoutMs: 30 }));
    const reader = answer.body[Symbol.asyncIterator]();
    expect(Buffer.from((await reader.next()).value).toString()).toBe('data: 1\n\n');
    expect(await failureOf(reader.next())).toMatchObject({ kind: 'idle-timeout' });
    await server.allClosed();
  });

  test('headers without a body: the timeout for the first read applies', async () => {
    const server = await startRawServer((socket) => socket.write(chunkedHead()));
    const answer = await network().send(post(server.url, { idleTimeoutMs: 60_000, firstReadTimeoutMs: 30 }));
    expect(await failureOf(piecesOf(answer.body))).toMatchObject({ kind: 'idle-timeout' });
  });

  test('reading a whole body that stalls: idle-timeout', async () => {
    const server = await startRawServer((socket) =>
      socket.write(chunkedHead('application/json') + chunk('{')),
    );
    const answer = await network().send(post(server.url, { idleTimeoutMs: 30 }));
    expect(await failureOf(answer.body.bytes(100))).toMatchObject({ kind: 'idle-timeout' });
  });

  test('not a pause of this process, during which bytes arrived', async () => {
    const server = await startRawServer((socket) => {
      socket.write(chunkedHead());
      pauseProcess(150);
      for (const text of ['data: 1\n\n', 'data: 2\n\n'])
        setImmediate(() => {
          socket.write(chunk(text));
          pauseProcess(150);
        });
      setImmediate(() => socket.write(lastChunk));
    });
    const answer = await network().send(post(server.url, { headersTimeoutMs: 100, idleTimeoutMs: 100 }));
    expect((await piecesOf(answer.body)).join('')).toBe('data: 1\n\ndata: 2\n\n');
  });

  test('a broken connection: reset, after the bytes before it', async () => {
    const server = await startRawServer((socket) => {
      socket.write(chunkedHead() + chunk('data: 1\n\n'), () => socket.destroy());
    });
    const answer = await network().send(post(server.url));
    const reader = answer.body[Symbol.asyncIterator]();
    expect(Buffer.from((await reader.next()).value).toString()).toBe('data: 1\n\n');
    expect(await failureOf(reader.next())).toMatchObject({ kind: 'reset' });
  });

  test('fewer bytes than announced: reset', async () => {
    const server = await startRawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":');
    });
    const answer = await network().send(post(server.url));
    expect(await failureOf(answer.body.bytes(1000))).toMatchObject({ kind: 'reset' });
  });

  test.each([
    ['announced', wholeAnswer('x'.repeat(1001))],
    ['not announced', chunkedHead() + chunk('x'.repeat(600)) + chunk('x'.repeat(600)) + lastChunk],
  ])('more bytes than allowed, %s: too-large', async (_case, text) => {
    const server = await startRawServer((socket) => socket.write(text));
    const answer = await network().send(post(server.url));
    expect(await failureOf(answer.body.bytes(1000))).toMatchObject({ kind: 'too-large' });
  });

  test.each(['gzip', 'gzip, gzip', 'br'])('%s without being requested is not inflated', async (encoding) => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
    const server = await startRawServer((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${bomb.length}\r\n\r\n`,
      );
      socket.write(bomb);
    });
    let decompressions = 0;
    const watch = createHook({ init: (_id, type) => (decompressions += type === 'ZLIB' ? 1 : 0) }).enable();
    onTestFinished(() => void watch.disable());
    expect(await failureOf(network().send(post(server.url)))).toMatchObject({
      kind: 'unreadable',
      reason: 'the response is compressed, which was not requested',
    });
    expect(decompressions).toBe(0);
    await server.allClosed();
  });

  test('a compressed refusal has its status and headers, but no body', async () => {
    const body = gzipSync('{"error":{"message":"slow down"}}');
    const server = await startRawServer((socket) => {
      socket.write(
        `HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`,
      );
      socket.write(body);
    });
    const { status, headers, body: answer } = await network().send(post(server.url));
    expect({ status, after: headers['retry-after'] }).toEqual({ status: 429, after: '7' });
    expect(await answer.bytes(1000)).toHaveLength(0);
    await server.allClosed();
  });

  test.each([
    ['not HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an unexpected 100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${wholeAnswer('{}')}`],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['chunks without lengths', `${chunkedHead()}zz\r\n`],
  ])('%s: unreadable', async (_what, text) => {
    const server = await startRawServer((socket) => socket.write(text));
    const reading = network()
      .send(post(server.url))
      .then(({ body }) => body.bytes(1000));
    expect(await failureOf(reading)).toMatchObject({ kind: 'unreadable' });
  });

  test.each([
    ['headers', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['a chunk', `${chunkedHead()}ff\r\nhalf`],
  ])('a connection that closes within %s: reset', async (_what, text) => {
    const server = await startRawServer((socket) => socket.end(text));
    const reading = network()
      .send(post(server.url))
      .then(({ body }) => body.bytes(1000));
    expect(await failureOf(reading)).toMatchObject({ kind: 'reset' });
  });

  test('an invalid header: refused, without its value', async () => {
    const headers = { authorization: 'Bearer canary\r\nx: y' };
    const failure = await failureOf(network().send(post('http://127.0.0.1:1', { headers })));
    expect(failure).toMatchObject({ kind: 'refused' });
    expect(`${failure.message} ${JSON.stringify(failure)}`).not.toContain('canary');
  });

  test.each(['ftp://127.0.0.1/', 'not a url', 'http://user:secret@127.0.0.1/'])(
    'the URL %s: refused, without repeating it',
    async (url) => {
      const failure = await failureOf(network().send(post(url)));
      expect(failure).toMatchObject({ kind: 'refused' });
      expect(failure.message).not.toContain('secret');
    },
  );

  test('a host outside the configuration is not called', async () => {
    const server = await startRawServer((socket) => socket.write(wholeAnswer('{}')));
    const { send } = network({ allowsOrigin: (origin) => origin === 'https://api.example.com' });
    expect(await failureOf(send(post(server.url)))).toMatchObject({ kind: 'refused' });
    expect(server.connections).toBe(0);
  });
});

describe('leaving early ends the call', () => {
  const endless = () => startRawServer((socket) => socket.write(chunkedHead() + chunk('data: 1\n\n')));

  test('before the headers, by the signal', async () => {
    const server = await startRawServer(() => arrived.resolve());
    const arrived = Promise.withResolvers<void>();
    const leave = new AbortController();
    const call = network().send(post(server.url, { signal: leave.signal }));
    await arrived.promise;
    leave.abort();
    await expect(call).rejects.toMatchObject({ kind: 'aborted' });
    await server.allClosed();
  });

  test('before it is sent', async () => {
    const server = await endless();
    const { send } = network();
    await expect(send(post(server.url, { signal: AbortSignal.abort() }))).rejects.toMatchObject({
      kind: 'aborted',
    });
    const leave = new AbortController();
    const call = send(post(server.url, { signal: leave.signal }));
    leave.abort();
    await expect(call).rejects.toMatchObject({ kind: 'aborted' });
  });

  test('during a pull, by the signal', async () => {
    const server = await endless();
    const leave = new AbortController();
    const answer = await network().send(post(server.url, { signal: leave.signal }));
    const reader = answer.body[Symbol.asyncIterator]();
    await reader.next();
    const pull = reader.next();
    leave.abort();
    await expect(pull).rejects.toMatchObject({ kind: 'aborted' });
    await server.allClosed();
  });

  test('by breaking out of the loop', async () => {
    const server = await endless();
    const answer = await network().send(post(server.url));
    for await (const _ of answer.body) break;
    await server.allClosed();
  });

  test('by cancel, during a pull or while collecting bytes', async () => {
    const server = await endless();
    const { send } = network();
    const one = await send(post(server.url));
    const reader = one.body[Symbol.asyncIterator]();
    await reader.next();
    const pull = reader.next();
    one.body.cancel();
    expect(await pull).toEqual({ done: true, value: undefined });
    const two = await send(post(server.url));
    const whole = two.body.bytes(1000);
    two.body.cancel();
    await expect(whole).rejects.toMatchObject({ kind: 'aborted' });
    await server.allClosed();
  });

  test('by closing the network', async () => {
    const server = await endless();
    const made = createNetwork();
    const answer = await made.send(post(server.url));
    const reading = piecesOf(answer.body);
    await made.close();
    await expect(reading).rejects.toMatchObject({ kind: 'aborted' });
    await server.allClosed();
  });

  test('a complete answer is not affected by a late abort', async () => {
    const server = await startRawServer((socket) => socket.write(wholeAnswer('{"ok":1}')));
    const leave = new AbortController();
    const answer = await network().send(post(server.url, { signal: leave.signal }));
    expect(await textOf(answer.body)).toBe('{"ok":1}');
    leave.abort();
    expect(server.connections).toBe(1);
  });
});

test('a slow reader pauses the other host and the idle timer', async () => {
  const piece = chunk('x'.repeat(64 * 1024));
  const count = 640;
  const server = await startRawServer((socket) => {
    socket.write(chunkedHead());
    let left = count;
    const pump = () => {
      while (left > 0) {
        left -= 1;
        if (!socket.write(piece)) return socket.once('drain', pump);
      }
      return socket.write(lastChunk);
    };
    pump();
  });
  const answer = await network().send(post(server.url, { idleTimeoutMs: 25 }));
  let bytes = 0;
  let largest = 0;
  let reads = 0;
  for await (const read of answer.body) {
    bytes += read.length;
    largest = Math.max(largest, read.length);
    reads += 1;
    // Three times the idle timeout: a slow reader is not a stall of the other host.
    if (reads <= 3) await new Promise((resolve) => setTimeout(resolve, 40));
    else await new Promise((resolve) => setImmediate(resolve));
  }
  expect(bytes).toBe(count * 64 * 1024);
  expect(largest).toBeLessThan(512 * 1024);
});
