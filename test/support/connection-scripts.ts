import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';

/** What a client or an upstream does on a connection: bytes in pieces, and an end. Texts are Latin-1. */
export interface ConnectionScript {
  text: string;
  /** Where the text is cut into pieces, as shares of its length. */
  cuts: number[];
  /** `answered`: reset once something was received. `left`: not ended at all. */
  end: 'reset' | 'answered' | 'half-closed' | 'closed' | 'left';
  /** Whether it never reads. */
  isDeaf: boolean;
}

const latin1 = (options: { maxLength: number }) =>
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), ...options });

const printable = fc.string({ maxLength: 30 });

const lines = (...all: string[]) => fc.constantFrom(...all);

/** What a daemon can be sent. */
export interface Known {
  host: string;
  targets: readonly string[];
  /** Header lines, such as credentials. */
  headers: readonly string[];
  /** Whole requests. */
  requests: readonly string[];
}

/** What clients may send, valid or not. */
export function anyRequests(known: Known): fc.Arbitrary<string> {
  const header = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...known.headers) },
    {
      weight: 12,
      arbitrary: lines(
        'host: localhost',
        'connection: close',
        'connection: keep-alive, Upgrade, HTTP2-Settings, content-length',
        'upgrade: h2c',
        'upgrade: websocket',
        'connection: Upgrade',
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        'content-length: 0',
        'content-length: 5',
        'content-length: 70',
        'content-length: 99999999999999999999',
        'content-length: -1',
        'transfer-encoding: chunked',
        'transfer-encoding: gzip, chunked',
        'content-encoding: gzip',
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        'expect: 100-continue',
        'expect: miracles',
        'te: trailers',
        'trailer: x-checksum',
        'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'x-forwarded-for: 203.0.113.9, \x7f',
        'x-workspace-id: ../..',
        'idempotency-key: a',
        'last-event-id: -1',
        'range: bytes=0-',
        'via: 1.1 gateway-x',
      ),
    },
    { weight: 4, arbitrary: printable.map((text) => `x-any: ${text}`) },
    { weight: 1, arbitrary: latin1({ maxLength: 30 }).map((text) => `x-any: ${text}`) },
    { weight: 1, arbitrary: latin1({ maxLength: 30 }) },
  );
  const body = fc.oneof(
    fc.constant(''),
    lines(
      'hello',
      '5\r\nhello\r\n0\r\n\r\n',
      '5;a=b\r\nhello\r\n0\r\nx-checksum: 1\r\n\r\n',
      'ffffffffffffffff\r\n',
      '{"model":"sim/assistant","input":"Say something, and say it at length.","stream":true}'.slice(0, 70),
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ),
    frames,
    latin1({ maxLength: 80 }),
  );
  const request = fc
    .record({
      method: lines(
        'GET',
        'GET',
        'POST',
        'POST',
        'HEAD',
        'OPTIONS',
        'DELETE',
        'CONNECT',
        'PRI',
        'HACK',
        'get',
      ),
      target: fc.oneof(
        fc.constantFrom(...known.targets),
        lines('*', 'a:1', '/', '//', 'http://x/', '/%00', '/\xff'),
      ),
      version: lines('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''),
      headers: fc.array(header, { maxLength: 8 }),
      body,
    })
    .map(({ method, target, version, headers, body: content }) =>
      [`${method} ${target} ${version}`, `host: ${known.host}`, ...headers, '', content].join('\r\n'),
    );
  const either = fc.oneof(request, fc.constantFrom(...known.requests));
  return fc.oneof(
    { weight: 8, arbitrary: fc.array(either, { minLength: 1, maxLength: 3 }).map((all) => all.join('')) },
    { weight: 1, arbitrary: latin1({ maxLength: 200 }) },
    { weight: 1, arbitrary: lines('\x16\x03\x01\x02\x00\x01\x00', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') },
  );
}

/** A whole answer, and a switch to a WebSocket with a text. */
export const validAnswers = {
  whole: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  stream:
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  switched:
    'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n\x81\x02hi\x88\0',
} as const;

/** What upstreams may answer, valid or not. */
export const anyAnswers: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: lines(...Object.values(validAnswers)) },
  {
    weight: 8,
    arbitrary: fc
      .record({
        version: lines('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2', 'ICY'),
        status: fc.oneof(
          lines(
            '200',
            '200',
            '101',
            '100',
            '103',
            '204',
            '304',
            '402',
            '500',
            '599',
            '999',
            '000',
            '099',
            '1e3',
          ),
          fc.integer({ min: 0, max: 999 }).map((status) => String(status).padStart(3, '0')),
        ),
        reason: fc.oneof(lines('OK', '', 'O\x01K', '\x7f', '\xe9', '\t'), latin1({ maxLength: 10 })),
        headers: fc.array(
          fc.oneof(
            lines(
              'content-length: 5',
              'content-length: 0',
              'content-length: 1000000',
              'transfer-encoding: chunked',
              'connection: close',
              'connection: upgrade',
              'upgrade: websocket',
              'upgrade: h2c',
              'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
              'content-type: application/json',
              'content-type: text/event-stream',
              'content-encoding: gzip',
              'location: //[',
              'location: /elsewhere',
              'trailer: x-checksum',
              'set-cookie: a=\xff',
              'cache-control: private',
            ),
            printable.map((text) => `x-any: ${text}`),
            printable.map((text) => `x-any: ${text}`),
            latin1({ maxLength: 20 }).map((text) => `x-any: ${text}`),
          ),
          { maxLength: 5 },
        ),
        body: fc.oneof(
          lines(
            '',
            'hello',
            '5\r\nhello\r\n0\r\n\r\n',
            '5\r\nhello\r\n0\r\nx-checksum: \x01\r\n\r\n',
            'data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n',
            'data: null\n\ndata: [DONE]\n\n',
            '{"choices":[{"index":0,"message":{"role":"assistant","content":"hello"}}]}',
          ),
          latin1({ maxLength: 60 }),
        ),
      })
      .map(({ version, status, reason, headers, body }) =>
        [`${version} ${status} ${reason}`, ...headers, '', body].join('\r\n'),
      ),
  },
  { weight: 1, arbitrary: latin1({ maxLength: 100 }) },
);

/** Frames of a WebSocket, valid and not. */
export const frames: fc.Arbitrary<string> = fc
  .array(
    fc
      .record({
        first: fc.oneof(
          lines('\x81', '\x82', '\x01', '\x80', '\x88', '\x89', '\x8a'),
          latin1({ maxLength: 1 }),
        ),
        isMasked: fc.constantFrom(true, true, true, false),
        payload: fc.oneof(
          lines(
            '{"type":"response.create","model":"sim/assistant","input":"hello","store":false}',
            '{"type":"response.create"}',
            '{}',
            '\x03\xe8bye',
            '\xff\xfe',
            '',
          ),
          latin1({ maxLength: 200 }),
        ),
      })
      .map(({ first, isMasked, payload }) => {
        const bit = isMasked ? 128 : 0;
        const { length } = payload;
        const size =
          length < 126
            ? String.fromCharCode(bit | length)
            : String.fromCharCode(bit | 126, length >> 8, length & 255);
        return first + size + (isMasked ? `\0\0\0\0${payload}` : payload);
      }),
    { maxLength: 4 },
  )
  .map((all) => all.join(''));

/** A script with one of these texts, which may be damaged. */
export function scriptsOf(texts: fc.Arbitrary<string>): fc.Arbitrary<ConnectionScript> {
  const damaged = fc
    .tuple(texts, fc.double({ min: 0, max: 1, noNaN: true }), latin1({ maxLength: 4 }), fc.nat(4))
    .map(([text, share, inserted, removed]) => {
      const at = Math.floor(share * text.length);
      return text.slice(0, at) + inserted + text.slice(at + removed);
    });
  return fc.record({
    text: fc.oneof({ weight: 2, arbitrary: texts }, { weight: 1, arbitrary: damaged }),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
    end: fc.constantFrom('reset', 'answered', 'half-closed', 'closed', 'left'),
    isDeaf: fc.constantFrom(false, false, false, true),
  });
}

/** After this, an answer is no longer waited for. */
const answerWithinMs = 300;

/** Does what a script says on an open connection; resolves when it has been done, to the first bytes of the answer if it waited for one. */
export async function perform(
  socket: Socket,
  { text, cuts, end, isDeaf }: ConnectionScript,
  withinMs = answerWithinMs,
): Promise<string | undefined> {
  const answered = Promise.withResolvers<Buffer | undefined>();
  socket.on('error', () => {}).once('close', () => answered.resolve(undefined));
  if (isDeaf) socket.pause();
  else socket.once('data', answered.resolve).resume();
  const bytes = Buffer.from(text, 'latin1');
  const places = cuts.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b);
  let at = 0;
  for (const next of [...places, bytes.length]) {
    if (socket.writable) socket.write(bytes.subarray(at, next));
    at = next;
    await nextTurn();
  }
  let answer: Buffer | undefined;
  if (end === 'answered' && !isDeaf) {
    const given = new AbortController();
    const late = wait(withinMs, undefined, { signal: given.signal }).catch(() => undefined);
    answer = await Promise.race([answered.promise, late]);
    given.abort();
  }
  if (end === 'half-closed') socket.end();
  else if (end === 'closed') socket.destroy();
  else if (end !== 'left') reset(socket);
  return answer?.toString('latin1');
}

/** Unix sockets cannot be reset; there, closing makes later writes fail. */
export function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
