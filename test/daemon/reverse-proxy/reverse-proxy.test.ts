import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Forwarding } from '../../../src/daemon/features/paywalls/index.ts';
import { ReverseProxy, type ReverseProxyDeps } from '../../../src/daemon/reverse-proxy/reverse-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { startRawServer, wholeAnswer } from '../../support/raw-server.ts';
import { localhostCertificate } from '../../support/test-certificate.ts';
import { Wire } from '../http/http-fixture.ts';

type Faults = Partial<Forwarding> & Partial<Pick<ReverseProxyDeps, 'decide' | 'renderFailure'>>;

const redirect = (socket: Socket): void => {
  socket.write(wholeAnswer('there', { status: '302 Found', headers: ['location: /elsewhere'] }));
};

/** A proxy that forwards everything to a server that redirects, and what it logs. */
async function aProxy({ decide, renderFailure, ...faults }: Faults = {}, answer = redirect) {
  const logged: { message: string; text: string }[] = [];
  let given = 0;
  const upstream = await startRawServer(answer);
  const proxy = new ReverseProxy({
    decide:
      decide ??
      (async () => ({
        kind: 'forward',
        url: new URL(upstream.url),
        headers: {},
        timeoutMs: 60_000,
        mayBePrivate: true,
        clientPath: (path) => path,
        giveBack: async () => {
          given += 1;
        },
        ...faults,
      })),
    renderFailure: renderFailure ?? (({ status, message }) => ({ status, headers: [], body: message })),
    rules: { allowed: () => [], ownPorts: () => [] },
    isTrustedProxy: () => false,
    makeRequestId: () => 'req_1',
    instance: 'test',
    log: {
      warn: (details, message) => {
        const { err, ...rest } = details as { err?: Error };
        logged.push({ message, text: `${err?.message ?? ''}${JSON.stringify(rest)}` });
      },
    },
  });
  await proxy.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => proxy.drain(0));
  return { port: proxy.address?.port ?? 0, logged, upstream, given: () => given };
}

const webSocket = `connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n`;
const requests: [string, string][] = [
  ['an ordinary request', 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
  ['a WebSocket', `GET / HTTP/1.1\r\nhost: x\r\n${webSocket}\r\n`],
];

const broken = () => {
  throw new Error('broken');
};

test('requests that follow on a connection end with it, and their upstreams too', async () => {
  let upstreams = 0;
  const { port, upstream } = await aProxy({}, () => {
    upstreams += 1;
  });
  const wire = new Wire(port).send('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10));
  await eventually('all are forwarded', () => upstreams === 10);
  wire.send('CONNECT a:1 HTTP/1.1\r\n\r\n');
  await upstream.allClosed();
});

describe.each(requests)('%s', (_what, request) => {
  const ask = (port: number) => new Wire(port).send(request).all();

  test('is forwarded', async () => {
    const { port, logged } = await aProxy();
    expect(await ask(port)).toMatch(/^HTTP\/1\.1 302 Found\r\n.*there/s);
    expect(logged).toEqual([]);
  });

  test.each([
    ['an invalid name', { 'not a name': 'x' }, 'not a name'],
    ['a name with a control character', { 'x\ny': 'x' }, 'x'],
    ['a control character', { 'x-a': 'secret\u0001' }, 'x-a'],
    ['a line break', { 'x-a': 'secret\r\nx-b: c' }, 'x-a'],
    ['a character beyond Latin-1', { 'x-a': 'secret ☂' }, 'x-a'],
  ])('with a header with %s gets 502 and keeps its payment', async (_how, headers, named) => {
    const { port, logged, upstream, given } = await aProxy({ headers: headers as Record<string, string> });
    expect(await ask(port)).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n.*the payment is still valid/s);
    expect(logged).toMatchObject([{ message: 'an upstream of a paywall failed' }]);
    expect(logged[0]?.text).toContain(named);
    expect(logged[0]?.text).not.toContain('secret');
    expect([given(), upstream.connections]).toEqual([1, 0]);
  });

  test.each<[string, Faults]>([
    ['deciding', { decide: broken }],
    ['deciding later', { decide: async () => broken() }],
    ['reading its address', { url: undefined as unknown as URL }],
    ['rewriting its redirect', { clientPath: broken }],
    ['giving back its use', { headers: { 'not a name': 'x' }, giveBack: broken }],
  ])('gets 502 when %s fails, which is logged', async (_how, faults) => {
    const { port, logged } = await aProxy(faults);
    expect(await ask(port)).toMatch(/^HTTP\/1\.1 502 /);
    expect(logged).not.toEqual([]);
    expect(await ask(port)).toMatch(/^HTTP\/1\.1 502 /);
  });

  test('is closed when even its failure cannot be rendered', async () => {
    const { port, logged } = await aProxy({ decide: broken, renderFailure: broken });
    expect(await ask(port)).toBe('');
    expect(logged).toMatchObject([{ text: expect.stringContaining('broken') }]);
  });
});

describe('a request whose upstream', () => {
  const [[, request]] = requests as [[string, string]];
  const silent = () => {};
  const close = (socket: Socket) => {
    socket.destroy();
  };

  /** Accepts connections, and does something before it receives anything. */
  async function anAcceptor(accept: (socket: Socket) => void): Promise<URL> {
    const server = createServer((socket) => {
      socket.on('error', silent);
      accept(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  /** With a certificate that no one trusts. */
  async function aTlsServer(): Promise<URL> {
    const server = createTlsServer(localhostCertificate);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  test.each<[string, () => Promise<URL>, timeoutMs?: number]>([
    ['is closed', async () => new URL('http://127.0.0.1:1')],
    ['has a name that does not exist', async () => new URL('http://nowhere.invalid')],
    ['closes connections before their handshake', () => anAcceptor(close)],
    ['resets connections before their handshake', () => anAcceptor((socket) => socket.resetAndDestroy())],
    ['speaks no TLS', () => anAcceptor((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    ['answers the handshake with nothing', () => anAcceptor(silent), 300],
    ['has a certificate that is not trusted', aTlsServer],
  ])(
    '%s cannot have seen it, so that its payment is still valid',
    async (_how, start, timeoutMs = 60_000) => {
      const { port, given, logged } = await aProxy({ url: await start(), timeoutMs });
      expect(await new Wire(port).send(request).all()).toMatch(
        /^HTTP\/1\.1 502 .*the payment is still valid/s,
      );
      expect([given(), logged.length]).toEqual([1, 1]);
      expect(logged[0]?.text).toMatch(/"reason":"[^"]+"/);
    },
  );

  test('had not accepted it when its client left keeps its payment, too', async () => {
    const accepted = Promise.withResolvers<void>();
    const url = await anAcceptor(() => accepted.resolve());
    const { port, given, logged } = await aProxy({ url });
    const wire = new Wire(port).send(request);
    await accepted.promise;
    wire.socket.destroy();
    await eventually('the use is given back', () => given() === 1);
    expect(logged).toEqual([]);
  });

  test.each<[string, (socket: Socket) => void, number, Faults]>([
    ['closes without an answer', close, 502, {}],
    ['does not answer', silent, 504, { timeoutMs: 300 }],
  ])('%s may have seen it, which is a use', async (_how, answer, status, faults) => {
    const { port, given } = await aProxy(faults, answer);
    expect(await new Wire(port).send(request).all()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(given()).toBe(0);
  });
});
