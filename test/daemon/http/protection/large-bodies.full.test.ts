import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement, StreamReply } from '../../../../src/daemon/base/handler.ts';
import type { HttpLimits } from '../../../../src/daemon/http/protection/limits.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { aListeningServer, anEndpoint, gate, statusesIn, Wire } from '../http-fixture.ts';

const mebibyte = 1024 * 1024;
const bodyOf = (bytes: number) => Buffer.from(`"${'x'.repeat(bytes - 2)}"`);
const two = bodyOf(2 * mebibyte);
const short = bodyOf(16 * 1024 - 1);

const headers = (...lines: string[]) => ['content-type: application/json', ...lines, '', ''].join('\r\n');
const lengthOf = (body: Buffer) => `content-length: ${body.length}`;

const packed = gzipSync(two);
/** Bodies of two megabytes. */
const ways: [string, Buffer][] = [
  ['as it is', Buffer.concat([Buffer.from(headers(lengthOf(two))), two])],
  [
    'in chunks',
    Buffer.concat([
      Buffer.from(`${headers('transfer-encoding: chunked')}${two.length.toString(16)}\r\n`),
      two,
      Buffer.from('\r\n0\r\n\r\n'),
    ]),
  ],
  ['compressed', Buffer.concat([Buffer.from(headers('content-encoding: gzip', lengthOf(packed))), packed])],
];

/** A server with room for three megabytes of large bodies, whose handler waits for `go`. */
async function aSmallServer(
  answer: () => Promise<unknown> = async () => ({}),
  { shedsLoad = true, limits = { largeBodiesBytesMax: 3 * mebibyte } as Partial<HttpLimits> } = {},
) {
  const go = gate();
  const left = gate();
  const started = { count: 0, watcher: gate() };
  const endpoint = anEndpoint({
    body: Type.Unknown(),
    bodyLimit: 8 * mebibyte,
    stream: { event: {}, done: true, always: false },
  });
  const handler = implement(endpoint, async () => {
    started.count += 1;
    started.watcher.resolve();
    started.watcher = gate();
    await go.promise;
    return (await answer()) as object;
  });
  const server = await aListeningServer([handler], {
    limits,
    shedsLoad,
    onFinish: ({ aborted }) => aborted && left.resolve(),
  });
  const start = `POST /v1/things HTTP/1.1\r\nhost: localhost:${server.port}\r\n`;
  const send = (request: Buffer) => new Wire(server.port).send(start).send(request);
  const running = async (request: Buffer) => {
    const begins = started.watcher.promise;
    const wire = send(request);
    await begins;
    return wire;
  };
  const statusOf = async (wire: Wire) => statusesIn(await wire.until(/^HTTP\/1\.1 \d{3} /))[0];
  return { go, left: left.promise, send, running, statusOf };
}

describe.each(ways)('a large body, %s', (_how, request) => {
  test('is refused while others need the memory, and taken once they are answered', async () => {
    const { go, send, running, statusOf } = await aSmallServer();
    const first = await running(request);
    const refused = send(request);
    expect(await statusOf(refused)).toBe(503);
    expect(await refused.until(/req_2.*$/s)).toMatch(
      /retry-after: 2\r.*"message":"Other large requests need the memory/s,
    );
    go.resolve();
    expect(await statusOf(first)).toBe(200);
    expect(await statusOf(send(request))).toBe(200);
  });

  test('is given up when its call fails', async () => {
    const { go, send, running, statusOf } = await aSmallServer(() =>
      Promise.reject(new ApiError('not_found')),
    );
    const first = await running(request);
    go.resolve();
    expect(await statusOf(first)).toBe(404);
    expect(await statusOf(send(request))).toBe(404);
  });

  test('is given up when its client leaves', async () => {
    const { go, running, send, statusOf, left } = await aSmallServer();
    const first = await running(request);
    first.socket.destroy();
    await left;
    go.resolve();
    expect(await statusOf(send(request))).toBe(200);
  });

  test('is given up when the stream that answers it begins', async () => {
    const end = gate();
    async function* chunks() {
      yield 'data: 1\n\n';
      await end.promise;
    }
    const { go, send, running, statusOf } = await aSmallServer(async () => new StreamReply({}, chunks()));
    const first = await running(request);
    go.resolve();
    await first.until(/data: 1/);
    expect(await statusOf(send(request))).toBe(200);
    end.resolve();
  });
});

test('small bodies do not count, and one is taken whatever its size', async () => {
  const { go, send, running, statusOf } = await aSmallServer();
  const small = Buffer.concat([Buffer.from(headers(lengthOf(short))), short]);
  const wires = [];
  for (let i = 0; i < 5; i += 1) wires.push(await running(small));
  const five = bodyOf(5 * mebibyte);
  const alone = await running(Buffer.concat([Buffer.from(headers(lengthOf(five))), five]));
  wires.push(alone, await running(small));
  go.resolve();
  for (const wire of wires) expect(await statusOf(wire)).toBe(200);
  expect(await statusOf(send(small))).toBe(200);
});

test('bodies of four megabytes and more have a limit of their own, which leaves room for the others', async () => {
  const limits = { largeBodiesBytesMax: 40 * mebibyte, hugeBodiesBytesMax: 9 * mebibyte };
  const { go, send, running, statusOf } = await aSmallServer(undefined, { limits });
  const sized = (bytes: number) => {
    const body = bodyOf(bytes);
    return Buffer.concat([Buffer.from(headers(lengthOf(body))), body]);
  };
  const wires = [await running(sized(5 * mebibyte)), await running(sized(4 * mebibyte))];
  expect(await statusOf(send(sized(4 * mebibyte)))).toBe(503);
  for (let i = 0; i < 5; i += 1) wires.push(await running(sized(3 * mebibyte)));
  go.resolve();
  for (const wire of wires) expect(await statusOf(wire)).toBe(200);
  expect(await statusOf(send(sized(8 * mebibyte)))).toBe(200);
});

test('a body in chunks is refused before it has arrived whole', async () => {
  const { go, send, running, statusOf } = await aSmallServer();
  const first = await running((ways[0] as [string, Buffer])[1]);
  const half = Buffer.alloc(1.5 * mebibyte, ' ');
  const begun = send(
    Buffer.from(`${headers('transfer-encoding: chunked')}${half.length.toString(16)}\r\n`),
  ).send(half);
  expect(await statusOf(begun)).toBe(503);
  go.resolve();
  expect(await statusOf(first)).toBe(200);
});

test('with `shed_load: false`, any number is taken', async () => {
  const { go, running, statusOf } = await aSmallServer(undefined, { shedsLoad: false });
  const [, request] = ways[0] as [string, Buffer];
  const wires = [await running(request), await running(request), await running(request)];
  go.resolve();
  for (const wire of wires) expect(await statusOf(wire)).toBe(200);
});
