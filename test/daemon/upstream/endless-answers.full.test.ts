import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Exchange } from '../../../src/daemon/upstream/exchange.ts';
import { httpUpstream, type UpstreamTimeouts } from '../../../src/daemon/upstream/http-upstream.ts';
import { createNetwork } from '../../../src/daemon/upstream/network.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { usedBytes } from '../../support/collect-garbage.ts';
import { eventually } from '../../support/eventually.ts';
import { chunk, chunkedHead, startRawServer } from '../../support/raw-server.ts';
import { callOf, chunkOf, readAll, sse, summary } from './upstream-fixture.ts';

/** Long enough that no silence ends an answer here. */
const patientMs = 120_000;

async function upstreamWith(answer: (socket: Socket) => void, timeouts: Partial<UpstreamTimeouts>) {
  const server = await startRawServer(answer);
  const network = createNetwork();
  onTestFinished(() => network.close());
  return httpUpstream({
    name: 'endless',
    adapter: chatAdapter({ name: 'endless', baseUrl: `${server.url}/v1` }),
    send: network.send,
    timeouts: {
      headersMs: patientMs,
      firstEventMs: patientMs,
      idleMs: patientMs,
      outputMs: patientMs,
      totalMs: patientMs,
      closingMs: patientMs,
      ...timeouts,
    },
  });
}

const signal = () => new AbortController().signal;

/** Writes `piece` for ever, after `before`. */
function repeats(piece: string, { before = '', everyMs = 5 } = {}) {
  return (socket: Socket) => {
    socket.write(before);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.once('close', () => clearInterval(timer));
  };
}

/** The same as fast as it is read. */
function floods(piece: string, { before = '' } = {}) {
  return (socket: Socket) => {
    const block = piece.repeat(Math.ceil(65_536 / piece.length));
    const write = () => {
      while (!socket.destroyed) if (!socket.write(block)) return void socket.once('drain', write);
    };
    socket.write(before);
    write();
  };
}

const event = (json: Record<string, unknown> | string) => chunk(sse(json).toString());
const word = (content: string) => event(chunkOf({ content }));
const started = chunkedHead() + word('Once');
const jsonHead = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
const outputMs = 100;

describe('a stream without new output ends, whatever else its provider sends', () => {
  test.each([
    ['empty events', word('')],
    ['events without a delta', event({ choices: [{ index: 0, delta: {} }] })],
    ['chunks without choices', event({ choices: [] })],
    ['usage', event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })],
    ['comments', chunk(': still here\n\n')],
    ['blank lines', chunk('\n\n')],
    ['a line without end', chunk('x')],
  ])('%s', async (_what, piece) => {
    const before = await upstreamWith(repeats(piece, { before: chunkedHead() }), { outputMs });
    await expect(before.open(callOf(), signal()).then(readAll)).rejects.toMatchObject({ kind: 'timeout' });
    const after = await upstreamWith(repeats(piece, { before: started }), { outputMs });
    const answer = await after.open(callOf(), signal());
    await expect(readAll(answer)).rejects.toMatchObject({ kind: 'timeout' });
  });

  test.each([
    ['comments', chunk(`: ${'still here '.repeat(5_000)}\n\n`)],
    ['empty events', event({ ...chunkOf({}), padding: 'x'.repeat(50_000) })],
  ])('and after too many bytes: %s', async (_what, piece) => {
    const upstream = await upstreamWith(floods(piece, { before: started }), {});
    const answer = await upstream.open(callOf(), signal());
    await expect(readAll(answer)).rejects.toMatchObject({ kind: 'broken' });
  });

  test('and after too many tool calls', async () => {
    let calls = 0;
    const upstream = await upstreamWith((socket) => {
      const write = () => {
        if (socket.destroyed) return;
        const tool_calls = Array.from({ length: 500 }, () => {
          calls += 1;
          return { index: calls, id: `call_${calls}`, function: { name: 'f', arguments: '{' } };
        });
        socket.write(event(chunkOf({ tool_calls })), () => setImmediate(write));
      };
      socket.write(chunkedHead());
      write();
    }, {});
    const answer = await upstream.open(callOf(), signal());
    await expect(readAll(answer)).rejects.toMatchObject({ kind: 'broken' });
  });
});

describe('an answer that never starts ends', () => {
  test.each([
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'],
  ])('%s for ever', async (_what, piece) => {
    const slow = await upstreamWith(repeats(piece, { everyMs: 20 }), { headersMs: 100, firstEventMs: 100 });
    for (const stream of [true, false])
      await expect(slow.open(callOf({ stream }), signal())).rejects.toMatchObject({
        name: 'UpstreamFailure',
      });
    const fast = await upstreamWith(floods(piece), {});
    await expect(fast.open(callOf(), signal())).rejects.toMatchObject({ kind: 'broken' });
  });

  test('headers without end', async () => {
    const before = 'HTTP/1.1 200 OK\r\n';
    const upstream = await upstreamWith(repeats('a: b\r\n', { before }), { firstEventMs: 100 });
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'timeout' });
  });
});

describe('a document ends', () => {
  const whole = callOf({ stream: false });
  test.each([
    ['byte by byte', chunk('x'), `${jsonHead}${chunk('{"choices":[{"message":{"content":"')}`],
    ['white space', chunk(' '), jsonHead],
  ])('after the time for output: %s', async (_what, piece, before) => {
    const upstream = await upstreamWith(repeats(piece, { before }), { outputMs });
    await expect(upstream.open(whole, signal())).rejects.toMatchObject({ kind: 'timeout' });
    // The same in place of a stream.
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('after too many bytes', async () => {
    const upstream = await upstreamWith(floods(chunk(' '.repeat(60_000)), { before: jsonHead }), {});
    await expect(upstream.open(whole, signal())).rejects.toMatchObject({ kind: 'broken' });
  });
});

describe('the whole call', () => {
  test('ends after its total time, even if there is output', async () => {
    const upstream = await upstreamWith(repeats(word('again '), { before: started }), { totalMs: 500 });
    // On a busy machine, the time may be over before the answer has started.
    await expect(upstream.open(callOf(), signal()).then(readAll)).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('includes earlier attempts', async () => {
    const upstream = await upstreamWith(() => {}, { totalMs: patientMs });
    const call = { ...callOf(), spentMs: patientMs - 50 };
    await expect(upstream.open(call, signal())).rejects.toMatchObject({ kind: 'timeout' });
  });
});

test('a model that thinks for longer than any silence passes, if its provider shows that it lives', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const reads = vi.spyOn(Exchange.prototype, 'onResponseData');
  onTestFinished(() => {
    reads.mockRestore();
    vi.useRealTimers();
  });
  const connected = Promise.withResolvers<Socket>();
  const upstream = await upstreamWith(connected.resolve, { firstEventMs: 1_000, idleMs: 1_000 });
  const answer = upstream.open(callOf(), signal()).then(readAll);
  const socket = await connected.promise;
  const think = async () => {
    for (let at = 0; at < 3; at += 1) {
      const before = reads.mock.calls.length;
      socket.write(chunk(': thinking\n\n'));
      await eventually('it is read', () => reads.mock.calls.length > before);
      vi.advanceTimersByTime(900);
    }
  };
  socket.write(chunkedHead());
  await think();
  socket.write(word('Once '));
  await think();
  socket.write(word('upon') + event(chunkOf({}, { finish: 'stop' })) + event('[DONE]'));
  expect(summary((await answer).events)).toMatchObject({ text: 'Once upon', finish: 'stop' });
});

test('a document of tiny pieces takes little more memory than its bytes', async () => {
  const pieces = 100_000;
  const dripping = Promise.withResolvers<void>();
  const upstream = await upstreamWith((socket) => {
    socket.write(jsonHead);
    const block = chunk('x').repeat(1_000);
    let left = pieces / 1_000;
    const write = () => {
      left -= 1;
      if (left >= 0) socket.write(block, () => setImmediate(write));
      else dripping.resolve();
    };
    write();
  }, {});
  const leaving = new AbortController();
  const before = usedBytes();
  const opening = upstream.open(callOf({ stream: false }), leaving.signal);
  opening.catch(() => {});
  await dripping.promise;
  // The client reads in this process too.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(usedBytes() - before).toBeLessThan(4 * 1024 * 1024);
  leaving.abort();
  await expect(opening).rejects.toThrow();
});
