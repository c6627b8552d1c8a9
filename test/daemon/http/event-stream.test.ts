import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { implement, RelayReply, StreamReply } from '../../../src/daemon/base/handler.ts';
import { type Cuttable, cutStalled, piecesOf } from '../../../src/daemon/http/event-stream.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { aListeningServer, anEndpoint, aServer, gate, statusesIn, Wire } from './http-fixture.ts';

const get = (port: number) =>
  `GET /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`;

function streaming(
  chunks: (signal: AbortSignal) => AsyncIterable<string>,
  options: { always?: boolean } = {},
) {
  return implement(
    anEndpoint({
      method: 'GET',
      stream: { event: Type.Unknown(), done: true, always: options.always ?? false },
    }),
    async ({ signal }) => new StreamReply({ 'x-service-model': 'm' }, chunks(signal)),
  );
}

/** The socket of a server, with what Node calls when its timer is due. */
interface Sender extends Socket {
  _handle: { writeQueueSize: number } | null;
  _onTimeout(): void;
}

/** The server's end of the next connection. */
function acceptedSocket(): Promise<Sender> {
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      unsubscribe('net.server.socket', take);
      resolve((message as { socket: Sender }).socket);
    };
    subscribe('net.server.socket', take);
  });
}

async function* events(...texts: string[]) {
  for (const text of texts) yield `data: ${text}\n\n`;
}

describe('a stream of events', () => {
  test('has headers against buffering, and unchanged chunks', async () => {
    const { server } = await aServer([streaming(() => events('1', '2', '[DONE]'))]);
    const answer = await server.inject({ url: '/v1/things' });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-service-model': 'm',
      'x-request-id': 'req_1',
    });
    expect(answer.body).toBe('data: 1\n\ndata: 2\n\ndata: [DONE]\n\n');
  });

  test('that starts with an empty chunk begins with a sign of life', async () => {
    const next = gate();
    const handler = streaming(async function* () {
      yield '';
      await next.promise;
      yield 'data: 1\n\n';
    });
    const { port } = await aListeningServer([handler]);
    const wire = new Wire(port).send(get(port));
    expect(await wire.until(/: keep-alive/)).toContain('200 OK');
    next.resolve();
    expect(await wire.all()).toMatch(/data: 1\n\n\r\n0\r\n\r\n$/);
  });

  test('arrives chunk by chunk', async () => {
    const next = gate();
    const handler = streaming(async function* () {
      yield 'data: 1\n\n';
      await next.promise;
      yield 'data: 2\n\n';
    });
    const { port, server } = await aListeningServer([handler]);
    const wire = new Wire(port).send(get(port));
    const first = await wire.until(/data: 1/);
    expect(first).not.toContain('data: 2');
    next.resolve();
    expect(await wire.all()).toMatch(/data: 2\n\n\r\n0\r\n\r\n$/);

    const injected = await server.inject({
      url: '/v1/things',
      headers: { host: `localhost:${port}` },
      payloadAsStream: true,
    });
    const [chunk] = await once(injected.stream(), 'data');
    expect(String(chunk)).toBe('data: 1\n\n');
  });

  test('may be large and fast without a port', async () => {
    const { server } = await aServer([
      streaming(async function* () {
        for (let i = 0; i < 64; i += 1) yield `data: ${'x'.repeat(16_000)}\n\n`;
      }),
    ]);
    const answer = await server.inject({ url: '/v1/things' });
    expect(answer.body.length).toBe(64 * 16_008);
    const streamed = await server.inject({ url: '/v1/things', payloadAsStream: true });
    let length = 0;
    for await (const chunk of streamed.stream()) length += chunk.length;
    expect(length).toBe(64 * 16_008);
  });

  test('that fails before its first chunk returns an error status', async () => {
    const handler = streaming(async function* () {
      if (Date.now() > 0) throw new ApiError('unavailable', { retryAfterSeconds: 3 });
      yield '';
    });
    const { server } = await aServer([handler]);
    const answer = await server.inject({ url: '/v1/things' });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('3');
    expect(answer.json().error.code).toBe('unavailable');
  });

  test('that fails later is cut, so that it never looks complete', async () => {
    const handler = streaming(async function* () {
      yield 'data: 1\n\n';
      throw new Error('bug');
    });
    const { port, logged } = await aListeningServer([handler]);
    const received = await new Wire(port).send(get(port)).all();
    expect(received).not.toContain('\r\n0\r\n\r\n');
    expect(logged).toHaveLength(1);
  });

  test('that waits for an event sends its headers first', async () => {
    const { port } = await aListeningServer([
      streaming(
        async function* (signal) {
          await once(signal, 'abort');
          yield '';
        },
        { always: true },
      ),
    ]);
    const wire = new Wire(port).send(get(port));
    expect(statusesIn(await wire.until(/text\/event-stream.*\r\n\r\n/s))).toEqual([200]);
  });

  test('returns only headers for HEAD', async () => {
    let isClosed = false;
    const handler = streaming(
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise(() => {}),
          return: async () => {
            isClosed = true;
            return { done: true, value: undefined };
          },
        }),
      }),
      { always: true },
    );
    const { port } = await aListeningServer([handler]);
    const wire = new Wire(port).send(get(port).replace('GET', 'HEAD'));
    const received = await wire.all();
    expect(statusesIn(received)).toEqual([200]);
    expect(received).toMatch(/\r\n\r\n$/);
    expect(isClosed).toBe(true);
  });
});

describe('a reader that is behind', () => {
  test('gets a long text in pieces, whole and in order', async () => {
    const text = 'aé😀'.repeat(200_000);
    expect(piecesOf(text).every((piece) => piece.isWellFormed())).toBe(true);
    expect(piecesOf(text).join('')).toBe(text);
    const written = `data: ${'x'.repeat(1_000)}\n\n`.repeat(200);
    expect(piecesOf(written).length).toBeGreaterThan(2);
    expect(piecesOf(written).every((piece) => piece.endsWith('\n\n'))).toBe(true);
    expect(piecesOf(written).join('')).toBe(written);
    const { port } = await aListeningServer([streaming(() => events(text, 'end'))], {
      limits: { heartbeatMs: 1 },
    });
    const received = Buffer.from(await new Wire(port).send(get(port)).all(), 'latin1').toString();
    expect(received.replace(/\r\n[0-9a-f]+\r\n/g, '').includes(`data: ${text}\n\n`)).toBe(true);
  });

  test('holds at most a megabyte, and is cut when memory is short', async () => {
    let isClosed = false;
    const handler = streaming(async function* () {
      try {
        for (;;) yield `data: ${'x'.repeat(100_000)}\n\n`;
      } finally {
        isClosed = true;
      }
    });
    const held: number[] = [];
    const stalled = new Set<Cuttable>();
    const add = stalled.add.bind(stalled);
    stalled.add = (stream) => {
      held.push((stream as ServerResponse).writableLength);
      return add(stream);
    };
    const { port, logged } = await aListeningServer([handler], { stalled });
    const wire = new Wire(port);
    wire.socket.pause();
    wire.send(get(port));
    await expect.poll(() => stalled.size).toBe(1);
    expect(Math.max(...held)).toBeLessThan(1024 * 1024);
    cutStalled({
      stalled,
      log: { info() {}, warn: () => logged.push({ data: {}, message: '' }), error() {} },
    });
    await expect.poll(() => isClosed).toBe(true);
    expect(stalled.size).toBe(0);
    expect(logged).toHaveLength(1);
  });
});

describe('an idle stream', () => {
  test('sends comments, only between complete events', async () => {
    const next = gate();
    const handler = streaming(async function* () {
      yield 'data: 1\n\n';
      await next.promise;
      yield 'data: 2\n\n';
    });
    const { port } = await aListeningServer([handler], { limits: { heartbeatMs: 10 } });
    const wire = new Wire(port).send(get(port));
    await wire.until(/(: keep-alive\n\n.*){2}/s);
    next.resolve();
    const [, body = ''] = (await wire.all()).split(/\r\n\r\n(.*)/s);
    const chunks = [...body.matchAll(/[0-9a-f]+\r\n([^\r]+)\r\n/g)].map(([, text]) => text);
    expect(chunks.at(0)).toBe('data: 1\n\n');
    expect(chunks.at(-1)).toBe('data: 2\n\n');
    expect(new Set(chunks.slice(1, -1))).toEqual(new Set([': keep-alive\n\n']));
  });

  test('sends nothing before its first event, as it may still fail with a status', async () => {
    const next = gate();
    const handler = streaming(async function* () {
      await next.promise;
      if (Date.now() > 0) throw new ApiError('upstream_failed');
      yield '';
    });
    const { port } = await aListeningServer([handler], { limits: { heartbeatMs: 5 } });
    const wire = new Wire(port).send(get(port));
    const other = new Wire(port).send(get(port).replace('/v1/things', '/nothing'));
    await other.all();
    next.resolve();
    expect(statusesIn(await wire.all())).toEqual([502]);
  });
});

test('a running stream releases the request body', async () => {
  const asked: WeakRef<object>[] = [];
  const end = gate();
  const handler = implement(
    anEndpoint({ body: Type.Unknown(), stream: { event: Type.Unknown(), done: true, always: false } }),
    async ({ body, rawBody }) => {
      asked.push(new WeakRef(body as unknown as object), new WeakRef(rawBody as object));
      return new StreamReply({}, endingAfter(end.promise));
    },
  );
  const { port } = await aListeningServer([handler]);
  const body = JSON.stringify({ input: 'x'.repeat(100_000) });
  const head = `POST /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close`;
  const type = `content-type: application/json\r\ncontent-length: ${body.length}`;
  const wire = new Wire(port).send(`${head}\r\n${type}\r\n\r\n${body}`);
  await wire.until(/data: 1/);
  await expect
    .poll(() => {
      collectGarbage();
      return asked.map((one) => one.deref());
    })
    .toEqual([undefined, undefined]);
  end.resolve();
  expect(await wire.all()).toContain('data: 2');
});

async function* endingAfter(end: Promise<void>) {
  yield 'data: 1\n\n';
  await end;
  yield 'data: 2\n\n';
}

describe('a slow reader', () => {
  const chunk = `data: ${'x'.repeat(32 * 1024)}\n\n`;

  test('pauses the source instead of filling memory', async () => {
    let produced = 0;
    const handler = streaming(async function* () {
      while (produced < 100 * 1024 * 1024) {
        produced += chunk.length;
        yield chunk;
      }
    });
    const { port } = await aListeningServer([handler], { limits: { stalledReaderMs: 300 } });
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.pause();
    socket.write(get(port));
    // Kernel buffers fill up first; after that the source must pause.
    let before = -1;
    await expect
      .poll(
        () => {
          const stands = produced === before && produced > 0;
          before = produced;
          return stands;
        },
        { interval: 50 },
      )
      .toBe(true);
    expect(produced).toBeLessThan(20 * 1024 * 1024);
    socket.destroy();
  });

  test('that reads nothing is disconnected, and its source ends', async () => {
    const ended = gate();
    const handler = streaming(async function* () {
      try {
        for (;;) yield chunk;
      } finally {
        ended.resolve();
      }
    });
    const { port, finished } = await aListeningServer([handler], { limits: { stalledReaderMs: 50 } });
    const socket = connect({ port, host: '127.0.0.1' });
    socket.pause();
    socket.write(get(port));
    await ended.promise;
    await expect.poll(() => finished).toMatchObject([{ aborted: true }]);
    socket.destroy();
  });

  test('that reads slowly receives everything, including one long response', async () => {
    const bytes = 24 * 1024 * 1024;
    const long = implement(
      anEndpoint({ method: 'GET' }),
      async () => new RelayReply({ 'content-type': 'text/plain' }, Buffer.alloc(bytes, 120)),
    );
    const text = 'x'.repeat(bytes);
    const stream = implement(
      anEndpoint({
        method: 'GET',
        path: '/v1/things/stream',
        stream: { event: Type.Unknown(), done: true, always: false },
      }),
      async () => new StreamReply({}, events(text)),
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const stalledReaderMs = 3_600_000;
    const { port } = await aListeningServer([long, stream], { limits: { stalledReaderMs } });
    const readSlowly = async (path: string) => {
      const sender = acceptedSocket();
      const socket = connect({ port, host: '127.0.0.1' });
      socket.write(get(port).replace('/v1/things', path));
      let received = 0;
      let passed = 0;
      let waiting = 0;
      for await (const piece of socket) {
        received += (piece as Buffer).length;
        const server = await sender;
        const { writeQueueSize = 0 } = server._handle ?? {};
        const hasRead = writeQueueSize < waiting;
        waiting = writeQueueSize;
        if (!hasRead || writeQueueSize === 0) continue;
        // After each part, the time of a stalled reader is over, also that of the socket's own timer.
        vi.advanceTimersByTime(stalledReaderMs);
        server._onTimeout();
        passed += 1;
      }
      expect(received).toBeGreaterThan(bytes);
      return passed;
    };
    expect(await readSlowly('/v1/things')).toBeGreaterThan(0);
    await readSlowly('/v1/things/stream');
  });

  test('receives everything after a pause', async () => {
    const handler = streaming(async function* () {
      for (let i = 0; i < 400; i += 1) yield chunk;
    });
    const { port } = await aListeningServer([handler]);
    const socket = connect({ port, host: '127.0.0.1' });
    socket.pause();
    socket.write(get(port));
    let received = 0;
    socket.on('data', (bytes) => {
      received += bytes.length;
    });
    socket.resume();
    await once(socket, 'end');
    expect(received).toBeGreaterThan(400 * chunk.length);
  });
});

describe('a disconnected client', () => {
  test('ends the source, whose cleanup is awaited', async () => {
    const log: string[] = [];
    const settled = gate();
    const handler = streaming(async function* (signal) {
      try {
        yield 'data: 1\n\n';
        await once(signal, 'abort');
        log.push(`aborted: ${signal.reason}`);
        yield 'data: 2\n\n';
        log.push('went on');
      } finally {
        log.push('settled');
        settled.resolve();
      }
    });
    const { port, logged } = await aListeningServer([handler]);
    const wire = new Wire(port).send(get(port));
    await wire.until(/data: 1/);
    wire.socket.destroy();
    await settled.promise;
    expect(log).toEqual(['aborted: client-left', 'settled']);
    expect(logged).toEqual([]);
  });

  test('ends it before the first chunk too', async () => {
    const started = gate();
    const settled = gate();
    const handler = streaming(async function* (signal) {
      started.resolve();
      try {
        await once(signal, 'abort');
        yield 'data: 1\n\n';
      } finally {
        settled.resolve();
      }
    });
    const { port } = await aListeningServer([handler]);
    const wire = new Wire(port).send(get(port));
    await started.promise;
    wire.socket.destroy();
    await settled.promise;
  });
});
