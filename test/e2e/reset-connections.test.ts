import { once } from 'node:events';
import { connect, type NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { askDaemon } from '../support/users.ts';

const config = 'listen: { socket: gateway.sock }\nvault: {keychain: false, insecure_plain_file: true}\n';

let daemon: ChildDaemon;
let upstream: PaywalledServer;
const listeners: Record<string, NetConnectOpts> = {};

beforeAll(async () => {
  upstream = await startPaywalledServer();
  daemon = await startChildDaemon({ config });
  const post = async (path: string, json: object) =>
    (await askDaemon(daemon, 'POST', path, { as: daemon.login, json })).body.data;
  await post('/api/agents/me/wallet', {});
  const { url } = await post('/api/l402/paywalls', {
    priceSats: 1,
    match: { pathPrefix: '/' },
    freePaths: ['/*'],
    upstream: { url: upstream.url },
  });
  const at = (address: string) => ({ host: '127.0.0.1', port: Number(new URL(address).port) });
  listeners.port = at(daemon.url);
  listeners.socket = { path: join(daemon.home, 'gateway.sock') };
  listeners.paywalls = at(url);
});

afterAll(async () => {
  await daemon.remove();
  await upstream.close();
});

const upgrade = 'connection: upgrade\r\nsec-websocket-version: 13\r\n';
const websocket = `${upgrade}upgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;

/** Requests after which a connection leaves Node's HTTP server. */
const requests: Record<string, string> = {
  'a tunnel': 'CONNECT a:1 HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'a WebSocket': `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\n${websocket}\r\n`,
  'HTTP/2': `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${upgrade}upgrade: h2c\r\n\r\n`,
  'invalid HTTP': 'HACK / HTTP/1.1\r\n\r\n',
};

const ways: Record<string, (name: string, request: string) => Promise<void>> = {
  async 'is reset after its request'(name, request) {
    const socket = await open(name);
    socket.write(request);
    socket.resetAndDestroy();
  },
  async 'is reset while it is answered'(name, request) {
    const socket = await open(name);
    socket.write(request);
    await nextTurn();
    socket.resetAndDestroy();
  },
  async 'is reset after its answer'(name, request) {
    const socket = await open(name);
    socket.write(request);
    await Promise.race([once(socket, 'data'), once(socket, 'end')]);
    socket.resetAndDestroy();
  },
};

async function open(name: string) {
  const socket = connect(listeners[name] as NetConnectOpts);
  socket.on('error', () => {});
  await once(socket, 'connect');
  // Unix sockets cannot be reset; there, closing makes later writes fail.
  if (name === 'socket') socket.resetAndDestroy = () => socket.destroy();
  return socket;
}

describe.each(['port', 'socket', 'paywalls'])('a connection to the %s', (name) => {
  const cases = Object.keys(requests).flatMap((what) => Object.keys(ways).map((how) => [what, how] as const));
  test.each(cases)('that asks for %s and %s does not end the daemon', async (what, how) => {
    for (let i = 0; i < 20; i += 1) await ways[how]?.(name, requests[what] ?? '');
    const answer = await fetch(`${daemon.url}/healthz`);
    expect(answer.status).toBe(200);
    await answer.text();
  });
});
