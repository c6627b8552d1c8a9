import { describe, expect, onTestFinished, test } from 'vitest';
import { aListeningServer, aStream, echo, gate, ping, statusesIn, Wire } from './http-fixture.ts';

const host = (port: number) => `Host: localhost:${port}\r\nContent-Type: application/json\r\n`;

/** Request smuggling: bodies whose end is ambiguous. */
const smuggled: [string, (port: number) => string][] = [
  [
    'a length and chunks',
    (port) =>
      `POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'two lengths',
    (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: 4\r\nContent-Length: 5\r\n\r\ntrue`,
  ],
  [
    'two lengths in one header',
    (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: 4, 4\r\n\r\ntrue`,
  ],
  ['a signed length', (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: +4\r\n\r\ntrue`],
  [
    'a space before the colon',
    (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks that are not the last coding',
    (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  ],
  [
    'an unknown coding',
    (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a chunk that ends with LF alone',
    (port) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Transfer-Encoding: chunked\r\n\r\n4\ntrue\n0\n\n`,
  ],
  [
    'a chunk size that is no number',
    (port) =>
      `POST /v1/echo HTTP/1.1\r\n${host(port)}Transfer-Encoding: chunked\r\n\r\nzz\r\ntrue\r\n0\r\n\r\n`,
  ],
  ['header lines that end with LF alone', (port) => `GET /v1/ping HTTP/1.1\nHost: localhost:${port}\n\n`],
  ['a folded header', (port) => `GET /v1/ping HTTP/1.1\r\n${host(port)}X-A: 1\r\n 2\r\n\r\n`],
  ['a header without a colon', (port) => `GET /v1/ping HTTP/1.1\r\n${host(port)}X-A\r\n\r\n`],
  ['a NUL in a header', (port) => `GET /v1/ping HTTP/1.1\r\n${host(port)}X-A: a\0b\r\n\r\n`],
  ['an unknown method', () => 'HACK / HTTP/1.1\r\n\r\n'],
  ['another protocol', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
];

describe('invalid HTTP', () => {
  test.each(smuggled)('%s: 400 and closed', async (_what, text) => {
    const { port } = await aListeningServer([echo, ping]);
    const received = await new Wire(port).send(text(port)).all();
    expect(statusesIn(received)).toEqual([400]);
    expect(received).toContain('"type":"invalid_request","code":"invalid_request"');
    expect(received).toMatch(/x-request-id: (req_\d+)\r\n.*"request_id":"\1"/s);
    expect(received).toMatch(/connection: close/i);
  });

  test('CONNECT is rejected', async () => {
    const { port } = await aListeningServer([ping]);
    const received = await new Wire(port)
      .send('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n')
      .all();
    expect(statusesIn(received)).toEqual([404]);
    expect(received).toMatch(/x-request-id: req_\d+/);
  });

  test('unknown expectations are ignored', async () => {
    const { port } = await aListeningServer([ping]);
    const wire = new Wire(port).send(
      `GET /v1/ping HTTP/1.1\r\n${host(port)}Expect: miracles\r\nConnection: close\r\n\r\n`,
    );
    expect(statusesIn(await wire.all())).toEqual([200]);
  });

  test('nothing later on the same connection is served', async () => {
    const { port } = await aListeningServer([ping, echo]);
    const wire = new Wire(port).send(
      `POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/ping HTTP/1.1\r\n${host(port)}\r\n`,
    );
    expect(await wire.all()).not.toContain('pong');
  });
});

describe('a slow client', () => {
  const limits = { headersTimeoutMs: 60, requestTimeoutMs: 120, connectionCheckMs: 20 };

  test('gets 408 while sending headers', async () => {
    const { port } = await aListeningServer([ping], { limits });
    const received = await new Wire(port).send('GET /v1/ping HTTP/1.1\r\nHost:').all();
    expect(statusesIn(received)).toEqual([408]);
    expect(received).toContain('"code":"request_timeout"');
    expect(received).toMatch(/x-request-id: req_\d+/);
  });

  test('gets 408 while sending the body', async () => {
    const { port, logged } = await aListeningServer([echo], { limits });
    const wire = new Wire(port).send(`POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: 100\r\n\r\n{`);
    expect(statusesIn(await wire.all())).toEqual([408]);
    expect(logged).toEqual([]);
  });

  test.each([
    ['headers', (port: number) => `GET /v1/ping HTTP/1.1\r\n${host(port)}X-Slow: `],
    ['body', (port: number) => `POST /v1/echo HTTP/1.1\r\n${host(port)}Content-Length: 100000\r\n\r\n"`],
  ])('gets 408 when it drips its %s: single bytes do not extend the timeout', async (_what, begun) => {
    const { port } = await aListeningServer([ping, echo], { limits });
    const wire = new Wire(port).send(begun(port));
    const drip = setInterval(() => wire.send('a'), 10);
    onTestFinished(() => clearInterval(drip));
    expect(statusesIn(await wire.all())).toEqual([408]);
  });

  test('does not affect a stream that outlives the request timeout', async () => {
    const later = gate();
    const handler = aStream(later.promise);
    const { port } = await aListeningServer([handler], { limits: { ...limits, heartbeatMs: 40 } });
    const wire = new Wire(port).send(`GET /v1/things HTTP/1.1\r\n${host(port)}\r\n`);
    // Six comments take longer than both timeouts and several checks of the connection.
    await wire.until(/(: keep-alive.*){6}/s);
    later.resolve();
    await wire.until(/data: 2/);
  });
});

describe('a path', () => {
  test.each([
    ['//v1/ping', 200],
    ['/v1//ping', 200],
    ['/v1/ping/', 200],
    ['/v1/ping/?x=1', 200],
    ['/V1/ping', 404],
    ['/v1/ping;a=1', 404],
    ['/v1/pi%6Eg', 200],
    ['/v1/pi%6eg?x=1', 200],
    ['/v1/%2e%2e/v1/ping', 404],
    ['/v1/../v1/ping', 404],
    ['/v1/ping%00', 404],
    ['/v1/%zz', 400],
    ['http://localhost/v1/ping', 404],
    ['*', 404],
    ['/', 404],
  ])('%s: %i', async (path, status) => {
    const { port } = await aListeningServer([ping]);
    const wire = new Wire(port).send(`GET ${path} HTTP/1.1\r\n${host(port)}Connection: close\r\n\r\n`);
    const received = await wire.all();
    expect(statusesIn(received)).toEqual([status]);
    expect(received).toMatch(/x-request-id: req_\d+/);
  });

  test('with different encoding passes the same checks', async () => {
    const { port } = await aListeningServer([ping]);
    for (const path of ['/v1/pi%6Eg', '/v1/%zz', '/nothing']) {
      const wire = new Wire(port).send(
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      );
      expect(await wire.all()).toContain('host_not_allowed');
    }
  });
});
