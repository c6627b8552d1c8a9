import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type UpstreamCall, UpstreamFailure } from '../../../src/daemon/features/upstreams/upstream.ts';
import { httpUpstream, type UpstreamTimeouts } from '../../../src/daemon/upstream/http-upstream.ts';
import { createNetwork } from '../../../src/daemon/upstream/network.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { usedBytes } from '../../support/collect-garbage.ts';
import { startFakeOpenAi } from '../../support/fake-openai.ts';
import { chunk, chunkedHead, lastChunk, startRawServer, wholeAnswer } from '../../support/raw-server.ts';
import { callOf, chunkOf, readAll, sse, summary } from './upstream-fixture.ts';

const signal = () => new AbortController().signal;
const patientMs = 120_000;
const patience: UpstreamTimeouts = {
  headersMs: patientMs,
  firstEventMs: patientMs,
  idleMs: patientMs,
  outputMs: patientMs,
  totalMs: patientMs,
  closingMs: patientMs,
};

function upstreamAt(baseUrl: string, timeouts: Partial<UpstreamTimeouts> = {}) {
  const network = createNetwork();
  onTestFinished(() => network.close());
  return httpUpstream({
    name: 'fake',
    adapter: chatAdapter({ name: 'fake', baseUrl }),
    send: network.send,
    timeouts: { ...patience, ...timeouts },
  });
}

async function fakeUpstream(timeouts?: Partial<UpstreamTimeouts>) {
  const fake = await startFakeOpenAi({ keys: ['sk-test'], models: ['gpt-fake'] });
  onTestFinished(() => fake.close());
  return { fake, upstream: upstreamAt(fake.baseUrl, timeouts) };
}

/** A provider that answers every call with these bytes. */
async function rawUpstream(text: string | Buffer, timeouts?: Partial<UpstreamTimeouts>) {
  const server = await startRawServer((socket) => socket.write(text));
  return { server, upstream: upstreamAt(`${server.url}/v1`, timeouts) };
}

const whole = (more: Partial<UpstreamCall['inference']> = {}) => callOf({ stream: false, ...more });

describe('a stream', () => {
  test('returns events and frames in the caller’s format, with usage', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ text: 'One two three.', usage: { input: 5, output: 3, cached: 2 } });
    const { events, frames } = await readAll(await upstream.open(callOf(), signal()));
    expect(summary(events)).toMatchObject({
      text: 'One two three.',
      finish: 'stop',
      tokens: { input: 5, cachedInput: 2, output: 3 },
    });
    expect(frames.at(-1)?.json.usage).toMatchObject({ prompt_tokens: 5 });
    expect(frames.every(({ raw, json }) => JSON.stringify(json) === raw)).toBe(true);
  });

  test('reuses the connection', async () => {
    const { fake, upstream } = await fakeUpstream();
    for (let i = 0; i < 5; i += 1) await readAll(await upstream.open(callOf(), signal()));
    await fake.idle();
    expect(fake.dropped).toBe(0);
  });

  test('ends at [DONE], even if the provider sends more and keeps the connection open', async () => {
    const after = sse(chunkOf({ content: ' more' }), '[DONE]');
    const events = Buffer.concat([
      sse(chunkOf({ content: 'all' }), chunkOf({}, { finish: 'stop' }), '[DONE]'),
      after,
    ]);
    const { upstream } = await rawUpstream(chunkedHead() + chunk(events.toString()));
    const decoded = await readAll(await upstream.open(callOf(), signal()));
    expect(summary(decoded.events)).toMatchObject({ text: 'all', finish: 'stop' });
  });

  test('is complete if the connection breaks after the finish reason', async () => {
    const server = await startRawServer((socket) => {
      const events = sse(chunkOf({ content: 'all' }), chunkOf({}, { finish: 'stop' })).toString();
      socket.write(chunkedHead() + chunk(events), () => socket.resetAndDestroy());
    });
    const answer = await upstreamAt(`${server.url}/v1`).open(callOf(), signal());
    expect(summary((await readAll(answer)).events)).toMatchObject({ text: 'all', finish: 'stop' });
  });

  test.each(['cut', 'end'] as const)(
    'that ends early (%s) is broken, after the content before it',
    async (by) => {
      const { fake, upstream } = await fakeUpstream();
      fake.script({ text: 'One two three four', breakAfter: { events: 3, by } });
      const answer = await upstream.open(callOf(), signal());
      let text = '';
      const reading = (async () => {
        if (answer.kind !== 'stream') return;
        for await (const batch of answer.batches) text += summary(batch.events).text;
      })();
      await expect(reading).rejects.toMatchObject({ name: 'UpstreamFailure', kind: 'broken' });
      expect(text).toBe('One two ');
    },
  );

  test('cut at any byte fails once and never succeeds', async () => {
    const events = sse(
      chunkOf({ content: 'Grüße 🌍' }),
      chunkOf({ content: ' all' }),
      chunkOf({}, { finish: 'stop' }),
    );
    const finishAt = events.indexOf('"finish_reason":"stop"');
    const adapter = chatAdapter({ name: 'fake', baseUrl: 'http://fake/v1' });
    for (let cut = 0; cut < finishAt; cut += 1) {
      const decoder = adapter.decoder(callOf());
      decoder.push(events.subarray(0, cut));
      expect(() => decoder.end()).toThrow(expect.objectContaining({ kind: 'broken' }));
    }
  });

  test('that stalls fails after the idle timeout', async () => {
    const { fake, upstream } = await fakeUpstream({ idleMs: 40 });
    fake.script({ text: 'One two', breakAfter: { events: 2, by: 'stall' } });
    const answer = await upstream.open(callOf(), signal());
    await expect(readAll(answer)).rejects.toMatchObject({ kind: 'timeout' });
    await fake.idle();
    expect(fake.dropped).toBe(1);
  });

  test('with an error emits the content before it, then fails', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ text: 'One two', breakAfter: { events: 2, by: 'error', code: 'rate_limit_exceeded' } });
    const answer = await upstream.open(callOf(), signal());
    if (answer.kind !== 'stream') throw new Error('not a stream');
    const batches = answer.batches[Symbol.asyncIterator]();
    const first = await batches.next();
    expect(summary(first.value.events).text).toBe('One ');
    await expect(batches.next()).rejects.toMatchObject({ kind: 'rate-limited' });
    expect(await batches.next()).toMatchObject({ done: true });
  });

  test('may contain a picture of megabytes in one event', async () => {
    const picture = 'x'.repeat(8 * 1024 * 1024);
    const events = sse(chunkOf({ content: 'a', picture }), chunkOf({}, { finish: 'stop' }), '[DONE]');
    const { upstream } = await rawUpstream(chunkedHead() + chunk(events.toString()) + lastChunk);
    const { frames } = await readAll(await upstream.open(callOf(), signal()));
    expect(frames[0]?.raw.length).toBeGreaterThan(picture.length);
  });

  test('with an event of 100 MB fails at 32 MiB', async () => {
    let written = 0;
    let grown = 0;
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const server = await startRawServer((socket) => {
      socket.write(chunkedHead() + chunk(`${sse(chunkOf({ content: 'a' })).toString()}data: `));
      const pump = () => {
        while (!socket.destroyed && written < 100 * 1024 * 1024) {
          written += 0x10000;
          if (written % (8 * 1024 * 1024) === 0) grown = Math.max(grown, usedBytes() - before);
          if (!socket.write(piece)) return void socket.once('drain', pump);
        }
      };
      pump();
    });
    const before = usedBytes();
    const answer = await upstreamAt(`${server.url}/v1`).open(callOf(), signal());
    await expect(readAll(answer)).rejects.toMatchObject({ kind: 'broken' });
    await server.allClosed();
    expect(written).toBeLessThan(50 * 1024 * 1024);
    expect(grown).toBeLessThan(144 * 1024 * 1024);
  });

  test.each([
    ['is not JSON', 'data: {"choices": [\n\n'],
    ['is no object', 'data: 17\n\n'],
  ])('with an event that %s is broken', async (_case, event) => {
    const { upstream } = await rawUpstream(chunkedHead() + chunk(event) + lastChunk);
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'broken' });
  });

  test('is parsed per the standard: byte order mark, CR, comments, unknown fields, no final blank line', async () => {
    const events = [
      '\uFEFF: OPENROUTER PROCESSING\r\r',
      `id: 1\rretry: 5\rdata:${JSON.stringify(chunkOf({ content: 'a' }))}\r\r`,
      `event: message\r\ndata: ${JSON.stringify(chunkOf({ content: 'b' }))}\r\n\r\n`,
      'data\n\n',
      `data: ${JSON.stringify(chunkOf({ content: 'c' }, { finish: 'stop' }))}`,
    ].join('');
    const { upstream } = await rawUpstream(chunkedHead() + chunk(events) + lastChunk);
    const decoded = await readAll(await upstream.open(callOf(), signal()));
    expect(summary(decoded.events)).toMatchObject({ text: 'abc', finish: 'stop' });
  });

  test('is created from a document if the server cannot stream', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: { x: 1 } } };
    const message = { role: 'assistant', content: 'Yes', reasoning_content: 'hm', tool_calls: [call] };
    const usage = { prompt_tokens: 3, completion_tokens: 2 };
    const document = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage };
    const { upstream } = await rawUpstream(wholeAnswer(JSON.stringify(document)));
    const { events } = await readAll(await upstream.open(callOf(), signal()));
    expect(summary(events)).toMatchObject({
      text: 'Yes',
      thoughts: 'hm',
      calls: [{ callId: 'a', name: 'f', arguments: '{"x":1}' }],
      finish: 'stop',
      tokens: { input: 3, output: 2 },
    });
  });

  test('without an answer is broken, never an empty success', async () => {
    const { upstream } = await rawUpstream(chunkedHead() + chunk('data: [DONE]\n\n') + lastChunk);
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'broken' });
  });
});

test('a request of megabytes is written and sent in turns of the event loop of their own', async () => {
  const adapter = chatAdapter({ name: 'fake', baseUrl: 'http://127.0.0.1:1' });
  let turns = 0;
  const upstream = httpUpstream({
    name: 'fake',
    adapter: {
      ...adapter,
      request(call) {
        setImmediate(() => {
          turns += 1;
        });
        return adapter.request(call);
      },
    },
    send: async ({ body }) => {
      throw new UpstreamFailure('network', `${(body as string).length > 1024 * 1024} ${turns}`, {});
    },
    timeouts: patience,
  });
  const open = async (text: string) =>
    upstream
      .open(callOf({ body: { messages: [{ role: 'user', content: text }] } }), signal())
      .catch((error: Error) => error.message);
  expect(await open('x'.repeat(1024 * 1024))).toBe('true 1');
  turns = 0;
  expect(await open('Hi')).toBe('false 0');
});

describe('before the first event', () => {
  test('an error in the stream is still a failure of the call', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ breakAfter: { events: 0, by: 'error', code: 'insufficient_quota' } });
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'billing' });
  });

  test('a document with an error and status 200 is that error', async () => {
    const { upstream } = await rawUpstream(wholeAnswer('{"error":{"code":429,"message":"slow down"}}'));
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'rate-limited' });
    await expect(upstream.open(whole(), signal())).rejects.toMatchObject({ kind: 'rate-limited' });
  });

  test('more white space than is waited for loses nothing of a document', async () => {
    const message = { role: 'assistant', content: 'Yes' };
    const document = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
    const chunks = [' '.repeat(40_000), ' '.repeat(40_000), document].map(chunk);
    const head = chunkedHead('application/json');
    const server = await startRawServer(async (socket) => {
      for (const text of [head, ...chunks, lastChunk]) {
        socket.write(text);
        await new Promise(setImmediate);
      }
    });
    const { events } = await readAll(await upstreamAt(`${server.url}/v1`).open(callOf(), signal()));
    expect(summary(events)).toMatchObject({ text: 'Yes', finish: 'stop' });
  });

  test('a document without an answer is broken', async () => {
    const { upstream } = await rawUpstream(wholeAnswer('{"choices":[]}'));
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'broken' });
  });

  test.each([
    ['a redirect', wholeAnswer('', { status: '302 Found', headers: ['location: http://127.0.0.1:1/'] })],
    ['a web page', wholeAnswer('<html>', { headers: ['content-type: text/html'] })],
  ])('%s is a provider failure', async (_case, text) => {
    const { upstream } = await rawUpstream(text);
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'server' });
  });

  test.each([
    [
      'https://api.example.com/v2/chat?key=abc',
      'it redirects to https://api.example.com; use that as its base_url',
    ],
    ['/elsewhere', 'it redirects; check its base_url'],
    ['javascript:alert(1)', 'it redirects; check its base_url'],
  ])('a redirect to %s says where to, and no more', async (location, publicMessage) => {
    const text = wholeAnswer('', { status: '307 Temporary Redirect', headers: [`location: ${location}`] });
    const { upstream } = await rawUpstream(text);
    const failure = await upstream.open(callOf(), signal()).catch((error) => error);
    expect(failure).toMatchObject({ kind: 'server', details: { status: 307 } });
    expect(failure.details.publicMessage).toBe(publicMessage);
  });

  test('heartbeats extend the time for the first event only until output is due', async () => {
    const server = await startRawServer((socket) => {
      socket.write(chunkedHead());
      const beat = setInterval(() => socket.write(chunk(': still here\n\n')), 10);
      socket.once('close', () => clearInterval(beat));
    });
    const upstream = upstreamAt(`${server.url}/v1`, { firstEventMs: 40, outputMs: 80 });
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'timeout' });
    await server.allClosed();
  });

  test('silence after the headers may last longer than between later reads', async () => {
    const { fake, upstream } = await fakeUpstream({ firstEventMs: 60, idleMs: 5_000 });
    fake.script({ breakAfter: { events: 0, by: 'stall' } });
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'timeout' });
    await fake.idle();
  });

  test('a refused connection is a network failure; an abort ends the call immediately', async () => {
    await expect(upstreamAt('http://127.0.0.1:1/v1').open(callOf(), signal())).rejects.toMatchObject({
      kind: 'network',
    });
    const { fake, upstream } = await fakeUpstream();
    fake.script({ silent: true }, { text: 'One two', breakAfter: { events: 2, by: 'stall' } });
    for (const _ of [1, 2]) {
      const leave = new AbortController();
      const reading = upstream.open(callOf(), leave.signal).then(readAll);
      while (fake.open === 0) await wait(1);
      leave.abort();
      await expect(reading).rejects.toMatchObject({ name: 'UpstreamFailure', kind: 'network' });
      await fake.idle();
    }
    expect(fake.dropped).toBe(2);
  });

  test('a reader that leaves the stream ends the call', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ text: 'One two', breakAfter: { events: 2, by: 'stall' } });
    const answer = await upstream.open(callOf(), signal());
    if (answer.kind !== 'stream') throw new Error('not a stream');
    for await (const _ of answer.batches) break;
    await fake.idle();
    expect(fake.dropped).toBe(1);
  });
});

describe('a whole answer', () => {
  test('is read with its usage', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ text: 'Whole.', usage: { input: 9, output: 4, reasoning: 1 }, finish: 'length' });
    const answer = await upstream.open(whole(), signal());
    expect(answer).toMatchObject({
      kind: 'json',
      wire: 'chat',
      finish: 'max_output_tokens',
      tokens: { input: 9, output: 4, reasoning: 1 },
    });
  });

  test('gets the arguments that a call lacks', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ calls: [{ name: 'now', arguments: '' }] });
    const answer = await upstream.open(whole(), signal());
    if (answer.kind !== 'json') throw new Error('not a document');
    expect(JSON.stringify(answer.json)).toContain('"arguments":"{}"');
  });

  test('that ends a call with “stop” gets the finish reason tool_calls', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const document = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
    const { upstream } = await rawUpstream(wholeAnswer(document));
    const answer = await upstream.open(whole(), signal());
    if (answer.kind !== 'json') throw new Error('not a document');
    expect(answer.json.choices).toEqual([{ index: 0, message, finish_reason: 'tool_calls' }]);
  });

  test('may be streamed', async () => {
    const events = sse(chunkOf({ content: 'all' }, { finish: 'stop' }), '[DONE]').toString();
    const { upstream } = await rawUpstream(chunkedHead() + chunk(events) + lastChunk);
    const decoded = await readAll(await upstream.open(whole(), signal()));
    expect(summary(decoded.events)).toMatchObject({ text: 'all', finish: 'stop' });
  });

  test.each([
    ['no JSON', 'not json'],
    ['a list', '[]'],
    ['no choices', '{"id":"x","choices":[]}'],
    ['no message', '{"choices":[{"index":0}]}'],
  ])('that is %s is broken', async (_case, text) => {
    const { upstream } = await rawUpstream(wholeAnswer(text));
    await expect(upstream.open(whole(), signal())).rejects.toMatchObject({ kind: 'broken' });
  });

  test('that never arrives fails after the headers timeout', async () => {
    const { fake, upstream } = await fakeUpstream({ headersMs: 30 });
    fake.script({ silent: true });
    await expect(upstream.open(whole(), signal())).rejects.toMatchObject({ kind: 'timeout' });
  });
});

describe('a refusal', () => {
  test('is reported by its status, without the key that the provider repeats', async () => {
    const { upstream } = await fakeUpstream();
    const call = { ...callOf(), key: 'sk-canary-1234567890' };
    const failure = await upstream.open(call, signal()).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ kind: 'authentication', details: { status: 401 } });
    expect(`${(failure as Error).stack}${JSON.stringify(failure)}`).not.toContain('canary');
  });

  const error = JSON.stringify({
    error: {
      message: `${'The value cannot be read. '.repeat(11)}It is correct-horse-battery-staple-42.`,
      code: 'invalid_value',
    },
  });
  const failedWhole = JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'Half' }, finish_reason: 'error' }],
    ...JSON.parse(error),
  });
  test.each([
    ['with its status', wholeAnswer(error, { status: '400 Bad Request' }), false],
    ['as a document with status 200', wholeAnswer(error), false],
    ['in place of a stream', wholeAnswer(error), true],
    ['as the first event', chunkedHead() + chunk(`data: ${error}\n\n`) + lastChunk, true],
    [
      'after the start of an answer',
      chunkedHead() + chunk(`${sse(chunkOf({ content: 'Half' })).toString()}data: ${error}\n\n`) + lastChunk,
      true,
    ],
    ['beside part of an answer', wholeAnswer(failedWhole), false],
  ])('%s shows no part of a key that its message is cut in', async (_where, text, stream) => {
    const { upstream } = await rawUpstream(text);
    const call = { ...callOf({ stream }), key: 'correct-horse-battery-staple-42' };
    const failure = await upstream.open(call, signal()).then(
      async (answer) => (answer.kind === 'json' ? answer.failure : readAll(answer).catch((thrown) => thrown)),
      (thrown) => thrown,
    );
    expect(failure.details.publicMessage).toMatch(/^The value cannot be read\. .{200,290}$/);
    expect(failure.details.publicMessage).not.toContain('correct');
  });

  test('is read up to 64 KiB', async () => {
    const long = `{"error":{"message":"${'x'.repeat(200_000)}"}}`;
    const { upstream } = await rawUpstream(wholeAnswer(long, { status: '503 Busy' }));
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({ kind: 'server' });
  });

  test('includes the provider’s Retry-After', async () => {
    const { fake, upstream } = await fakeUpstream();
    fake.script({ error: { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': '7' } } });
    await expect(upstream.open(callOf(), signal())).rejects.toMatchObject({
      kind: 'rate-limited',
      details: { retryAfterSeconds: 7 },
    });
  });
});
