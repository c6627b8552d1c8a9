import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { pauseProcess } from '../support/pause-process.ts';
import { startRawServer, wholeAnswer } from '../support/raw-server.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

let daemon: RunningDaemon;
let port = 0;
let made = 0;

beforeAll(async () => {
  daemon = await startDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n' });
  await askDaemon(daemon, 'POST', '/api/agents/me/wallet', { as: daemon.login, json: {} });
});
afterAll(() => daemon.stop());

/** A free path in front of an upstream that answers by hand. */
async function aPaywall(answer: (socket: Socket, request: string) => void, timeoutMs = 5_000) {
  const upstream = await startRawServer(answer);
  made += 1;
  const json = {
    priceSats: 1,
    match: { pathPrefix: `/p${made}` },
    freePaths: [`/p${made}`],
    upstream: { url: upstream.url, timeoutMs },
  };
  const { body } = await askDaemon(daemon, 'POST', '/api/l402/paywalls', { as: daemon.login, json });
  port = Number(new URL(body.data.url).port);
  return { url: body.data.url as string, path: `/p${made}`, upstream };
}

function aClient(): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Everything that a connection receives until the other side closes it. */
async function received(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk;
  return text;
}

const head = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}`;
const closing = 'connection: close\r\n\r\n';
const webSocket =
  'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n';

describe.each([
  ['an ordinary request', closing],
  ['a WebSocket', webSocket],
])('%s gets 502 from an upstream', (_what, rest) => {
  test.each([
    ['with status 000', 'HTTP/1.1 000 Nothing\r\n\r\n'],
    ['with status 099', 'HTTP/1.1 099 Nothing\r\n\r\n'],
    ['with a control byte in its reason', 'HTTP/1.1 200 O\x01K\r\ncontent-length: 0\r\n\r\n'],
    ['with a DEL in its reason', 'HTTP/1.1 404 \x7f\r\ncontent-length: 0\r\n\r\n'],
    ['that switches to a protocol nobody asked for', `${switching}upgrade: h2c\r\n\r\n`],
    ['that switches protocols without a name', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['that speaks no HTTP', '\x16\x03\x01\x02\x00\x01\x00'],
    ['that closes the connection', ''],
  ])('%s', async (_how, answer) => {
    const { path } = await aPaywall((socket) => socket.end(answer, 'latin1'));
    const client = aClient();
    client.write(head(path, rest));
    const text = await received(client);
    expect(text).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    expect(text).toContain('"type":"upstream_failed"');
  });
});

test('an upstream that switches protocols on an ordinary request gets nothing more', async () => {
  const { path, upstream } = await aPaywall((socket) =>
    socket.write(`${switching}upgrade: websocket\r\n\r\nhello`),
  );
  const client = aClient();
  client.write(head(path, closing));
  expect(await received(client)).toMatch(/^HTTP\/1\.1 502 .*upstream_failed/s);
  await upstream.allClosed();
});

test('an upstream that drips its head has the time of its paywall', async () => {
  const { path, upstream } = await aPaywall((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ');
    const timer = setInterval(() => socket.write('x'), 20);
    socket.once('close', () => clearInterval(timer));
  }, 300);
  const client = aClient();
  client.write(head(path, closing));
  expect(await received(client)).toMatch(/^HTTP\/1\.1 504 /);
  await upstream.allClosed();
});

describe('a client that never reads', () => {
  const flood = (socket: Socket) => {
    const more = (): void => {
      while (socket.writable && socket.write(Buffer.alloc(256 * 1024, 'x')));
    };
    socket.on('drain', more);
    more();
  };

  test.each([
    ['an answer', closing, 'HTTP/1.1 200 OK\r\n\r\n'],
    ['a WebSocket', webSocket, `${switching}upgrade: websocket\r\n\r\n`],
  ])('of %s is cut after the time of the paywall', async (_what, rest, answer) => {
    const { path, upstream } = await aPaywall((socket) => {
      socket.write(answer);
      flood(socket);
    }, 300);
    const client = aClient().pause();
    client.write(head(path, rest));
    await eventually('the upstream is connected', () => upstream.connections === 1);
    await upstream.allClosed();
  });
});

test('an upstream that answers while this process is paused is in time', async () => {
  const { path } = await aPaywall((socket) => {
    socket.end(wholeAnswer('{"ok":true}'));
    pauseProcess(150);
  }, 100);
  const client = aClient();
  client.write(head(path, closing));
  expect(await received(client)).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ['a stream', closing, 'HTTP/1.1 200 OK\r\n\r\nfirst ', 'first '],
  ['a WebSocket', webSocket, `${switching}upgrade: websocket\r\n\r\nfirst `, 'first '],
])('%s may be silent for longer than the time of the paywall', async (_what, rest, answer, first) => {
  const { path } = await aPaywall((socket) => {
    socket.write(answer);
    setTimeout(() => socket.end('last'), 500);
  }, 100);
  const client = aClient();
  client.write(head(path, rest));
  expect(await received(client)).toMatch(new RegExp(`${first}.*last`, 's'));
});

test.each([
  ['with a length', 'content-length: 5\r\n', 'hello'],
  ['in chunks', 'transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
])('a body %s after an offer of HTTP/2 arrives', async (_how, framing, body) => {
  const offer =
    'connection: Upgrade, close, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n';
  let seen = '';
  const { path } = await aPaywall((socket, request) => {
    seen += request;
    if (/hello/.test(seen)) socket.end(wholeAnswer('{"ok":true}'));
  });
  const client = aClient();
  client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${offer}${framing}\r\n`);
  await sleep(20);
  client.write(body);
  expect(await received(client)).toMatch(/^HTTP\/1\.1 200 .*\{"ok":true\}/s);
  expect(seen).not.toMatch(/upgrade|http2-settings/i);
});

test('a connection may offer HTTP/2 with each of its requests', async () => {
  const { path } = await aPaywall((socket) => socket.write(wholeAnswer('{"ok":true}')));
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const client = aClient().setEncoding('latin1');
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  for (let i = 1; i <= 30; i += 1) {
    client.write(head(path, 'connection: Upgrade\r\nupgrade: h2c\r\n\r\n'));
    await eventually(`answer ${i}`, () => text.split('{"ok":true}').length === i + 1);
  }
  expect(warnings).toEqual([]);
});
