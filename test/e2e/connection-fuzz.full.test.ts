import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { appendCaveats } from '../support/append-caveats.ts';
import { heapBytes } from '../support/collect-garbage.ts';
import {
  anyAnswers,
  anyRequests,
  type ConnectionScript,
  frames,
  perform,
  reset,
  scriptsOf,
  validAnswers,
} from '../support/connection-scripts.ts';
import { eventually } from '../support/eventually.ts';
import { givePlayMoney } from '../support/play-money.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson, askDaemon } from '../support/users.ts';

/** `FUZZ_RUNS` multiplies the runs, and `FUZZ_SEED` draws others. */
const factor = Number(process.env.FUZZ_RUNS ?? 1);
const atOnce = 16;

let daemon: RunningDaemon;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
/** A paid token of the paywall, and its preimage. */
let paid: { token: string; preimage: string };
const listeners: Record<string, NetConnectOpts> = {};
/** A name of this daemon that every listener accepts. */
let host = '';
const faults: unknown[] = [];
const left: Socket[] = [];

/** A server that answers the request with the number N as the Nth script says, and others not at all. */
async function startUpstream() {
  const scripts = new Map<number, ConnectionScript>();
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => {}).once('close', () => open.delete(socket));
    let received = '';
    const onData = (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const number = /\/free\/(\d+)|"model":"(\d+)"/.exec(received);
      const script = scripts.get(Number(number?.[1] ?? number?.[2]));
      if (script === undefined) return;
      socket.off('data', onData);
      void perform(socket, script);
    };
    socket.on('data', onData);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scripts,
    cut() {
      for (const socket of open) socket.destroy();
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const providers = Array.from({ length: 40 }, (_, at) => `p${at}`);

beforeAll(async () => {
  process.on('uncaughtException', onFault);
  upstream = await startUpstream();
  const upstreams = providers.map(
    (name) => `  - {name: ${name}, base_url: ${upstream.url}/v1, models: ["*"], wire: chat}`,
  );
  daemon = await startDaemon({
    config: `
listen: {socket: gateway.sock}
vault: {keychain: false, insecure_plain_file: true}
timeouts: {headers_ms: 200, first_event_ms: 200, idle_ms: 200}
log: {level: silent}
upstreams:
${upstreams.join('\n')}
`,
  });
  const buyer = await addPerson(daemon, 'buyer');
  await givePlayMoney(daemon, buyer.login, 1_000);
  const { body } = await askDaemon(daemon, 'POST', '/api/l402/paywalls', {
    as: daemon.login,
    json: {
      name: 'shop',
      priceSats: 1,
      match: { pathPrefix: '/shop' },
      freePaths: ['/shop/free/*'],
      token: { maxUses: null },
      upstream: { url: upstream.url, timeoutMs: 100 },
    },
  });
  const at = (address: string) => ({ host: '127.0.0.1', port: Number(new URL(address).port) });
  host = new URL(daemon.url).host;
  listeners.port = at(daemon.url);
  listeners.socket = { path: join(daemon.home, 'gateway.sock') };
  listeners.paywalls = at(body.data.url);
  const { error } = (await (await fetch(new URL('/shop', body.data.url))).json()) as {
    error: { pay: { invoice: string; macaroon: string } };
  };
  const json = { invoice: error.pay.invoice };
  const { body: bought } = await askDaemon(daemon, 'POST', '/api/payments/pay', { as: buyer.login, json });
  paid = { token: error.pay.macaroon, preimage: bought.data.payment.preimage };
});

afterAll(async () => {
  await daemon.stop();
  await upstream.close();
  process.off('uncaughtException', onFault);
});

afterEach(async () => {
  for (const socket of left.splice(0)) socket.destroy();
  upstream.cut();
  checkFaults();
  await eventually('no request is left but this one', async () => {
    const metrics = await (await daemon.fetch('/metrics')).text();
    return metrics.includes('\ngateway_http_requests_running 1\n');
  });
  expect((await daemon.fetch('/healthz')).status).toBe(200);
});

function onFault(error: unknown): void {
  faults.push(error);
}

function checkFaults(): void {
  const [fault] = faults.splice(0);
  if (fault !== undefined) throw fault;
}

async function open(name: string): Promise<Socket> {
  for (;;) {
    const socket = connect(listeners[name] as NetConnectOpts);
    socket.on('error', () => {});
    left.push(socket);
    socket.once('close', () => left.splice(left.indexOf(socket) >>> 0, 1));
    const failure = await once(socket, 'connect').catch((error: NodeJS.ErrnoException) => error);
    if (!(failure instanceof Error)) return socket;
    // A Unix socket refuses more connections than wait to be accepted, which is one in each turn of this process.
    if (!('code' in failure && failure.code === 'EAGAIN')) throw failure;
    await nextTurn();
  }
}

const run = async (name: string, script: ConnectionScript, withinMs?: number) =>
  await perform(await open(name), script, withinMs);

const upgrading = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n';
const webSocket = `${upgrading}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n${more}\r\n`;
const withKey = () => `authorization: Bearer ${daemon.key}\r\n`;

/** A whole request for an answer of a model. */
function modelCall(model = 'sim/assistant', stream = false): string {
  const json = JSON.stringify({ model, input: 'hello', stream });
  const head = `POST /v1/responses HTTP/1.1\r\nhost: ${host}\r\n${withKey()}content-type: application/json\r\n`;
  return `${head}content-length: ${json.length}\r\n\r\n${json}`;
}

/** What clients send, to any listener. */
function anyTraffic(): fc.Arbitrary<string> {
  const targets = [
    '/healthz',
    '/v1/responses',
    '/v1/events',
    '/mcp',
    '/v1/chat/completions',
    '/shop/free/0',
    '/shop',
  ];
  const caveats = [
    'shop_scope=\x01',
    'shop_scope=\x7f☂',
    'shop_valid_until=9\r\nx: y',
    'shop_capabilities=\x00',
  ].map((caveat) => `authorization: L402 ${appendCaveats(paid.token, [caveat])}:${paid.preimage}`);
  const holder = `authorization: L402 ${paid.token}:${paid.preimage}`;
  const post = (target: string, json: string) =>
    `POST ${target} HTTP/1.1\r\nhost: ${host}\r\n${withKey()}content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
  const known = {
    host,
    targets,
    headers: [
      withKey().trim(),
      holder,
      ...caveats,
      'authorization: Payment e30',
      'authorization: Basic \xff',
    ],
    requests: [
      get('/healthz'),
      get('/v1/models', withKey()),
      get('/v1/events', withKey()),
      get('/v1/responses', webSocket + withKey()),
      modelCall(),
      modelCall('sim/assistant', true),
      post('/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
      get('/shop'),
      get('/shop/free/0', webSocket),
      ...[holder, ...caveats].map((line) => get('/shop/any', `${line}\r\n`)),
    ],
  };
  const onSocket = frames.map((all) => get('/v1/responses', webSocket + withKey()) + all);
  return fc.oneof({ weight: 4, arbitrary: anyRequests(known) }, { weight: 1, arbitrary: onSocket });
}

describe('whatever clients do', () => {
  test('on any listener, the daemon has no fault', async () => {
    const seen = new Set<string>();
    const script = fc.tuple(fc.constantFrom(...Object.keys(listeners)), scriptsOf(anyTraffic()));
    await fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: atOnce }), async (scripts) => {
        const answers = await Promise.all(scripts.map(([name, each]) => run(name, each)));
        for (const [at, answer] of answers.entries()) seen.add(`${scripts[at]?.[0]} ${answer?.slice(9, 12)}`);
        checkFaults();
      }),
      { numRuns: 60 * factor },
    );
  });

  const exchanges: Record<string, () => string> = {
    'a tunnel': () => 'CONNECT a:1 HTTP/1.1\r\n\r\nhello',
    'a tunnel behind other requests': () =>
      `${modelCall()}${get('/shop/free/0').repeat(3)}CONNECT a:1 HTTP/1.1\r\n\r\n`,
    'a body after an offer of HTTP/2': () =>
      `POST /shop/free/0 HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: h2c\r\ncontent-length: 5\r\n\r\nhello`,
    'a chunked body': () =>
      `POST /v1/responses HTTP/1.1\r\nhost: ${host}\r\n${withKey()}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    'a WebSocket': () =>
      `${get('/v1/responses', webSocket + withKey())}\x81\x82\0\0\0\0{}\x89\x80\0\0\0\0\x88\x80\0\0\0\0`,
  };
  const cases = ['port', 'socket', 'paywalls'].flatMap((name) =>
    Object.keys(exchanges).map((what) => [name, what] as const),
  );
  test.each(cases)('on the %s, %s is cut at every offset', async (name, what) => {
    const whole = exchanges[what]?.() ?? '';
    const ends = ['reset', 'half-closed'] as const;
    // One at a time, as this process accepts one connection in each of its turns.
    await inParallel(1, whole.length + 1, async (at) => {
      await run(name, { text: whole.slice(0, at), cuts: [], end: ends[at % 2] ?? 'reset', isDeaf: false });
      checkFaults();
    });
  });
});

describe('whatever upstreams do', () => {
  let number = 0;
  type Call = 'a request' | 'a body' | 'a WebSocket' | 'a model call';
  const calls: Record<Call, (to: number) => { name: string; text: string }> = {
    'a request': (to) => ({ name: 'paywalls', text: get(`/shop/free/${to}`) }),
    'a body': (to) => ({
      name: 'paywalls',
      text: `POST /shop/free/${to} HTTP/1.1\r\nhost: ${host}\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    }),
    'a WebSocket': (to) => ({ name: 'paywalls', text: get(`/shop/free/${to}`, webSocket) }),
    'a model call': (to) => ({
      name: 'port',
      text: modelCall(`${providers[to % providers.length]}/${to}`, to % 2 === 0),
    }),
  };
  /** Makes a call that the upstream answers as the script says; the client leaves once it was answered. */
  const call = async (kind: Call, script: ConnectionScript, isDeaf = false, withinMs?: number) => {
    number += 1;
    const to = number;
    upstream.scripts.set(to, script);
    const { name, text } = calls[kind](to);
    const answer = await run(name, { text, cuts: [], end: 'answered', isDeaf }, withinMs);
    upstream.scripts.delete(to);
    return answer?.slice(9, 12);
  };

  test('the daemon has no fault', async () => {
    const one = fc.tuple(
      fc.constantFrom(...(Object.keys(calls) as Call[])),
      scriptsOf(anyAnswers),
      fc.constantFrom(false, false, true),
    );
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: atOnce }), async (all) => {
        const answers = await Promise.all(all.map((each) => call(...each)));
        for (const [at, status] of answers.entries()) seen.add(`${all[at]?.[0]} ${status}`);
        checkFaults();
      }),
      { numRuns: 30 * factor },
    );
    // A slow machine is late with so many at once: what is missing then is asked for one by one.
    const until = async (kind: Call, status: number, ...texts: string[]) => {
      while (!seen.has(`${kind} ${status}`))
        for (const text of texts) {
          const script: ConnectionScript = { text, cuts: [], end: 'closed', isDeaf: false };
          seen.add(`${kind} ${await call(kind, script, false, 60_000)}`);
        }
    };
    for (const kind of Object.keys(calls) as Call[]) {
      await until(kind, 200, validAnswers.whole, validAnswers.stream);
      await until(kind, 502, 'hello');
    }
    await until('a WebSocket', 101, validAnswers.switched);
    checkFaults();
  });

  test.each<[Call, string, string]>([
    ['a request', 'an answer', validAnswers.whole],
    ['a request', 'a switch of protocols', validAnswers.switched],
    ['a WebSocket', 'an answer', validAnswers.whole],
    ['a WebSocket', 'a switch of protocols', validAnswers.switched],
  ])('to %s, %s is cut at every offset', async (kind, _what, whole) => {
    await inParallel(atOnce, whole.length + 1, async (at) => {
      const end = at % 2 === 0 ? 'reset' : 'closed';
      await call(kind, { text: whole.slice(0, at), cuts: [], end, isDeaf: false });
      checkFaults();
    });
  });
});

/** Runs steps 0, 1, … with so many at a time. */
async function inParallel(width: number, count: number, step: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await step(next - 1);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

test('nothing is left of connections that have ended', async () => {
  const seeds = [1, 2, 3].map((each) => each + Number(process.env.FUZZ_SEED ?? 0));
  const scripts = scriptsOf(anyTraffic());
  const round = async (seed: number) => {
    const all = fc.sample(scripts, { seed, numRuns: 250 * factor });
    await inParallel(2, all.length, async (at) => {
      await run(Object.keys(listeners)[at % 3] ?? '', all[at] as ConnectionScript);
    });
    for (const socket of left.splice(0)) reset(socket);
    upstream.cut();
    await eventually('connections are closed', () => openConnections() <= before);
    return heapBytes();
  };
  const before = openConnections();
  const [first, ...later] = [
    await round(seeds[0] ?? 0),
    await round(seeds[1] ?? 0),
    await round(seeds[2] ?? 0),
  ];
  expect(Math.min(...later)).toBeLessThan(first + 4e6);
});

function openConnections(): number {
  return process.getActiveResourcesInfo().filter((kind) => /^(TCPSocket|Pipe)Wrap$/.test(kind)).length;
}
