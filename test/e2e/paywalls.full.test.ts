import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { appendCaveats } from '../support/append-caveats.ts';
import { eventually } from '../support/eventually.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { givePlayMoney } from '../support/play-money.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson, askDaemon, type Person } from '../support/users.ts';

const config = 'vault: {keychain: false, insecure_plain_file: true}\n';

/** The error of a 402. */
interface Refusal {
  reason?: string;
  pay: { invoice: string; macaroon: string; payment_hash: string; amount_sats: number };
}

let daemon: RunningDaemon;
let server: PaywalledServer;
let buyer: Person;
let proxy: string;

const api = (as: string, method: string, path: string, json?: object) =>
  askDaemon(daemon, method, `/api${path}`, { as, ...(json && { json }) });
const create = async (json: object, as = daemon.login) => {
  const { status, body } = await api(as, 'POST', '/l402/paywalls', {
    priceSats: 10,
    upstream: { url: server.url },
    ...json,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.data;
};
const show = async (id: string) => (await api(daemon.login, 'GET', `/l402/paywalls/${id}`)).body.data;
const challengeOf = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(proxy + path, { headers });
  expect(response.status).toBe(402);
  const { error } = (await response.json()) as { error: Refusal };
  return { response, error };
};
/** Pays a challenge from the buyer's wallet; returns the credential. */
const pay = async ({ pay: asked }: { pay: { invoice: string; macaroon: string } }) => {
  const { body } = await api(buyer.login, 'POST', '/payments/pay', { invoice: asked.invoice });
  expect(body.data.payment.status).toBe('succeeded');
  return `L402 ${asked.macaroon}:${body.data.payment.preimage}`;
};
const buy = async (path: string) => await pay((await challengeOf(path)).error);
const get = (path: string, authorization?: string, init: RequestInit = {}) =>
  fetch(proxy + path, { ...init, headers: { ...(authorization && { authorization }), ...init.headers } });

/** The owner sells, a second user buys. */
beforeAll(async () => {
  server = await startPaywalledServer();
  daemon = await startDaemon({ config });
  buyer = await addPerson(daemon, 'buyer');
  await givePlayMoney(daemon, buyer.login, 1_000_000);
  const { url } = await create({ name: 'first', match: { pathPrefix: '/first' } });
  proxy = new URL(url).origin;
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

beforeEach(() => {
  server.seen.length = 0;
});

describe('a paywall', () => {
  test('asks for a payment, and lets one paid request through', async () => {
    const paywall = await create({ match: { pathPrefix: '/weather' } });
    expect(paywall).toMatchObject({
      id: expect.stringMatching(/^pw_/),
      name: 'weather',
      status: 'active',
      url: `${proxy}/weather`,
      walletId: expect.stringMatching(/^wal_/),
      token: { timeoutSeconds: 3600, maxUses: 1, capabilities: [], constraints: {} },
      proxy: { state: 'applied', lastError: null },
      stats: { challenges: 0, paid: 0, revenueMsats: 0 },
    });
    const { response, error } = await challengeOf('/weather/today?q=1');
    const { invoice, macaroon, payment_hash } = error.pay;
    expect(error).toMatchObject({
      type: 'payment_required',
      pay: { amount_sats: 10, amount_msats: 10_000, paywall: 'weather' },
    });
    const [l402 = ''] = (response.headers.get('www-authenticate') ?? '').split(', Payment ');
    expect(l402).toBe(`L402 macaroon="${macaroon}", invoice="${invoice}", version="0", token="${macaroon}"`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(server.seen).toEqual([]);

    const credential = await pay(error);
    const preimage = credential.split(':')[1] ?? '';
    expect(createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex')).toBe(payment_hash);
    const paid = await get('/weather/today?q=1', credential);
    expect([paid.status, await paid.json()]).toEqual([200, { path: '/weather/today?q=1', length: 0 }]);

    const again = await get('/weather/today', credential);
    expect(await again.json()).toMatchObject({ error: { type: 'payment_refused', reason: 'used_up' } });
    expect((await show('weather')).stats).toEqual({ challenges: 2, paid: 1, revenueMsats: 10_000 });
  });

  test('sends neither the payment nor headers of one connection upstream', async () => {
    await create({
      name: 'clean',
      match: { pathPrefix: '/clean' },
      upstream: {
        url: `${server.url}/base`,
        rewritePrefix: '/v2',
        headers: { 'x-api-key': 'secret-of-the-upstream' },
      },
      token: { maxUses: 1, capabilities: ['read', 'write'], constraints: { region: 'eu' } },
    });
    await get('/clean/a%7Eb//c', await buy('/clean'), {
      headers: {
        'payment-signature': 'x',
        'x-paywall-token': 'forged',
        'x-api-key': 'mine',
        accept: 'text/plain',
      },
    });
    const [seen] = server.seen;
    expect(seen?.url).toBe('/base/v2/a~b/c');
    expect(seen?.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      accept: 'text/plain',
      'x-api-key': 'secret-of-the-upstream',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': new URL(proxy).host,
      'x-paywall-capabilities': 'read,write',
      'x-paywall-constraints': 'region=eu',
      'x-paywall-token': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(seen?.headers).not.toHaveProperty('authorization');
    expect(seen?.headers).not.toHaveProperty('payment-signature');
    const database = await readFile(join(daemon.home, 'gateway.db'));
    expect(database.includes('secret-of-the-upstream')).toBe(false);
  });

  test('passes other credentials, bodies, and answers of any status on', async () => {
    await create({ name: 'open', match: { pathPrefix: '/open' }, freePaths: ['/open', '/open/*'] });
    server.on('/open/old', (_request, response) => {
      response.writeHead(302, { location: `${server.url}/open/new`, 'set-cookie': ['a=1', 'b=2'] });
      response.end();
    });
    const body = 'x'.repeat(3_000_000);
    const posted = await get('/open/post', 'Bearer mine', { method: 'POST', body });
    expect(await posted.json()).toEqual({ path: '/open/post', length: body.length });
    expect(server.seen[0]?.headers.authorization).toBe('Bearer mine');
    const moved = await get('/open/old', undefined, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([302, '/open/new']);
    expect(moved.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  test('is found by host, longest path and method', async () => {
    await create({ name: 'all', match: { pathPrefix: '/m' }, priceSats: 1 });
    await create({ name: 'posts', match: { pathPrefix: '/m/x', methods: ['POST'] }, priceSats: 2 });
    await create({ name: 'api', match: { host: 'API.localhost', pathPrefix: '/m' }, priceSats: 3 });
    const port = Number(new URL(proxy).port);
    const priceOf = async (method: string, path: string, host = '127.0.0.1') => {
      const raw = await rawRequest(
        port,
        `${method} ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\nconnection: close\r\n\r\n`,
      );
      return JSON.parse(raw.split('\r\n\r\n')[1] ?? '').error.pay?.amount_sats;
    };
    expect(await priceOf('GET', '/m/x')).toBe(1);
    expect(await priceOf('POST', '/m/x')).toBe(2);
    expect(await priceOf('POST', '/m/xy')).toBe(1);
    expect(await priceOf('GET', '/m', 'api.LOCALHOST')).toBe(3);
    await create({ name: 'only', match: { pathPrefix: '/only', methods: ['GET'] } });
    const other = await fetch(`${proxy}/only`, { method: 'DELETE' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await fetch(`${proxy}/unknown`)).status).toBe(404);
  });

  test('does not let paths that servers read differently pass for free ones', async () => {
    await create({ name: 'tricky', match: { pathPrefix: '/tricky' }, freePaths: ['/tricky/free/*'] });
    const port = Number(new URL(proxy).port);
    const statusOf = async (path: string) =>
      (await rawRequest(port, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)).slice(9, 12);
    for (const path of [
      '/tricky/free/../paid',
      '/tricky/free/%2e%2e/paid',
      '/tricky/free/..%2fpaid',
      '/tricky/free/..;a/paid',
      '/tricky/free\\..\\paid',
      '/tricky/free/%5c..',
      '/tricky/free/%zz',
      'http://other/tricky/free/a',
    ]) {
      expect([path, await statusOf(path)]).toEqual([path, '400']);
    }
    expect(await statusOf('/tricky/free/a')).toBe('200');
    expect(await statusOf('/tricky//paid')).toBe('402');
    expect(await statusOf('/tricky/freedom')).toBe('402');
  });

  test.each([
    ['GET', 'transfer-encoding: chunked'],
    ['DELETE', 'transfer-encoding: chunked'],
    ['GET', 'content-length: LENGTH\r\nconnection: content-length'],
    ['POST', 'content-length: LENGTH\r\nconnection: content-length'],
  ])('does not let the body of a %s with %s pass for another request', async (method, header) => {
    const name = `framed-${method}-${header.length}`.toLowerCase();
    await create({ name, match: { pathPrefix: `/${name}` }, freePaths: [`/${name}/free`] });
    const port = Number(new URL(proxy).port);
    const hidden = `GET /${name}/paid HTTP/1.1\r\nhost: x\r\n\r\n`;
    const length = Buffer.byteLength(hidden);
    const body = header.startsWith('transfer') ? `${length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n` : hidden;
    const head = `${method} /${name}/free HTTP/1.1\r\nhost: x\r\n${header.replace('LENGTH', String(length))}\r\n\r\n`;
    const socket = connect(port, '127.0.0.1');
    socket.write(head + body);
    await once(socket, 'data');
    // Sent on the same connection to the server, so that what came before has been read.
    await get(`/${name}/free`);
    socket.destroy();
    expect(server.seen.map(({ url, body: received }) => [url, received])).toEqual([
      [`/${name}/free`, hidden],
      [`/${name}/free`, ''],
    ]);
  });

  test('streams both ways as it goes, and ends the upstream when the client leaves', async () => {
    await create({ name: 'stream', match: { pathPrefix: '/stream' }, freePaths: ['/stream/*'] });
    const closed = Promise.withResolvers<void>();
    server.on('/stream/events', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      response.once('close', () => closed.resolve());
    });
    const leaving = new AbortController();
    const response = await get('/stream/events', undefined, { signal: leaving.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: one\n\n');
    leaving.abort();
    await closed.promise;
  });

  test('waits for slow readers', async () => {
    await create({ name: 'slow', match: { pathPrefix: '/slow' }, freePaths: ['/slow/*'] });
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024);
    server.on('/slow/quick', (_request, response) => response.end());
    server.on('/slow/endless', (_request, response) => {
      const more = () => {
        while (written < 512 * 1024 * 1024) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    const socket = connect(Number(new URL(proxy).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET /slow/endless HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually('nothing more is taken while others are answered', async () => {
      const before = written;
      for (let at = 0; at < 20; at += 1) await (await get('/slow/quick')).text();
      return written > 0 && written === before;
    });
    // What the buffers of three sockets hold, not the whole stream.
    expect(written).toBeLessThan(64 * 1024 * 1024);
    socket.destroy();
  });

  test('opens WebSockets once they are paid', async () => {
    await create({ name: 'socket', match: { pathPrefix: '/socket' } });
    const url = `${proxy.replace('http', 'ws')}/socket`;
    const refused = new WebSocket(url);
    const status = await new Promise((resolve) => {
      refused.once('unexpected-response', (_request, response) => resolve(response.statusCode));
      refused.once('error', () => {});
    });
    expect(status).toBe(402);
    const socket = new WebSocket(url, { headers: { authorization: await buy('/socket') } });
    const answer = await new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('open', () => socket.send('hello'));
      socket.once('message', (data) => resolve(String(data)));
    });
    expect(answer).toBe('echo hello');
    expect(server.seen[0]?.headers).not.toHaveProperty('authorization');
    socket.terminate();
  });

  test('opens nothing but WebSockets, so that no unpaid request follows on a connection', async () => {
    await create({ name: 'h2c', match: { pathPrefix: '/h2c' }, freePaths: ['/h2c/free'] });
    const port = Number(new URL(proxy).port);
    const head = `GET /h2c/free HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n`;
    const raw = await rawRequest(port, head);
    expect(raw).toMatch(/^HTTP\/1\.1 200 /);
    expect(raw).toContain('{"path":"/h2c/free","length":0}');
    expect(server.seen).toMatchObject([{ method: 'GET', url: '/h2c/free' }]);
    expect(server.seen[0]?.headers).not.toHaveProperty('upgrade');
  });

  test('limits free requests a day and the rate per address', async () => {
    await create({ name: 'trial', match: { pathPrefix: '/trial' }, freeRequestsPerDay: 3 });
    const statuses = await Promise.all([1, 2, 3, 4, 5].map(async () => (await get('/trial')).status));
    expect(statuses.sort()).toEqual([200, 200, 200, 402, 402]);
    await create({
      name: 'rated',
      match: { pathPrefix: '/rated' },
      freePaths: ['/rated'],
      rateLimit: { requests: 1, perSeconds: 60, burst: 2 },
    });
    const rated = [await get('/rated'), await get('/rated'), await get('/rated')];
    expect(rated.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(rated[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
    // No proxy is trusted, so a client cannot invent others.
    expect((await get('/rated', undefined, { headers: { 'x-forwarded-for': '203.0.113.9' } })).status).toBe(
      429,
    );
  });

  test('is paused and resumed, with tokens that stay valid', async () => {
    const { id } = await create({
      name: 'pausing',
      match: { pathPrefix: '/pausing' },
      token: { maxUses: null },
    });
    const token = await buy('/pausing');
    await api(daemon.login, 'PATCH', `/l402/paywalls/${id}`, { status: 'paused' });
    expect((await get('/pausing', token)).status).toBe(503);
    await api(daemon.login, 'PATCH', `/l402/paywalls/${id}`, { status: 'active', priceSats: 20 });
    expect((await get('/pausing', token)).status).toBe(200);
    expect((await get('/pausing', token)).status).toBe(200);
    expect((await challengeOf('/pausing')).error.pay.amount_sats).toBe(20);
  });
});

describe('a token', () => {
  test('with a number of uses is exact under parallel requests', async () => {
    await create({ name: 'ten', match: { pathPrefix: '/ten' }, token: { maxUses: 10 } });
    const token = await buy('/ten');
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await get('/ten', token)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(30);
    expect(server.seen).toHaveLength(10);
  });

  test('is refused with a reason when it is damaged, for another paywall, unpaid or forged', async () => {
    await create({ name: 'one', match: { pathPrefix: '/one' } });
    await create({ name: 'two', match: { pathPrefix: '/two' } });
    const token = await buy('/one');
    const reasonOf = async (path: string, authorization: string) =>
      (await challengeOf(path, { authorization })).error.reason;
    expect(await reasonOf('/two', token)).toBe('other_paywall');
    expect(await reasonOf('/one', token.replace(/:.{4}/, ':0000'))).toBe('invalid_preimage');
    expect(await reasonOf('/one', 'L402 nonsense')).toBe('malformed_credential');
    expect(await reasonOf('/one', `L402 AgEE${'A'.repeat(40)}:${'0'.repeat(64)}`)).toBe(
      'malformed_credential',
    );
    const bytes = Buffer.from(token.slice(5).split(':')[0] ?? '', 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    const forged = `L402 ${bytes.toString('base64')}:${token.split(':')[1]}`;
    expect(await reasonOf('/one', forged)).toBe('invalid_token');
    expect((await get('/one', token.replace('L402', 'LSAT'))).status).toBe(200);
  });

  test('sends the upstream what was sold, and nothing that its holder appends', async () => {
    const token = { maxUses: null, capabilities: ['read', 'write'], constraints: { tier: 'silver' } };
    await create({ name: 'bare', match: { pathPrefix: '/bare' }, token: { maxUses: null } });
    await create({ name: 'sold', match: { pathPrefix: '/sold' }, token });
    const tokens = { bare: await buy('/bare'), sold: await buy('/sold') };
    const rightsSent = async (name: keyof typeof tokens, ...caveats: string[]) => {
      server.seen.length = 0;
      const [bought = '', preimage] = tokens[name].slice('L402 '.length).split(':');
      const response = await get(`/${name}`, `L402 ${appendCaveats(bought, caveats)}:${preimage}`);
      if (response.status !== 200) return ((await response.json()) as { error: Refusal }).error.reason;
      const headers = server.seen[0]?.headers;
      return [headers?.['x-paywall-capabilities'], headers?.['x-paywall-constraints']];
    };
    expect(await rightsSent('bare')).toEqual([undefined, undefined]);
    expect(await rightsSent('sold')).toEqual(['read,write', 'tier=silver']);
    expect(await rightsSent('sold', 'sold_capabilities=read', 'sold_max_uses=1')).toEqual([
      'read',
      'tier=silver',
    ]);
    for (const name of ['bare', 'sold'] as const) {
      for (const caveat of [
        'capabilities=admin',
        'scope=x,tier=gold',
        'tier=gold',
        'scope=\u0007',
        'scope=é',
      ])
        expect([caveat, await rightsSent(name, `${name}_${caveat}`)]).toEqual([caveat, 'caveat_not_met']);
    }
    expect(await rightsSent('sold', 'sold_max_uses=1')).toBe('used_up');
  });

  test('keeps its use when the server behind the paywall cannot be reached', async () => {
    const gone = await startPaywalledServer();
    const { id } = await create({
      name: 'down',
      match: { pathPrefix: '/down' },
      upstream: { url: gone.url },
    });
    const token = await buy('/down');
    await gone.close();
    const failed = await get('/down', token);
    expect(failed.status).toBe(502);
    expect(await failed.json()).toMatchObject({ error: { type: 'upstream_failed' } });
    await api(daemon.login, 'PATCH', `/l402/paywalls/${id}`, { upstream: { url: server.url } });
    expect((await get('/down', token)).status).toBe(200);
  });

  test('is used up by a request that the server does not answer in time', async () => {
    await create({
      name: 'late',
      match: { pathPrefix: '/late' },
      upstream: { url: server.url, timeoutMs: 100 },
    });
    server.on('/late', () => {});
    const token = await buy('/late');
    expect((await get('/late', token)).status).toBe(504);
    expect((await get('/late', token)).status).toBe(402);
  });
});

describe('deletion', () => {
  test('takes the route away before it is answered, revokes tokens, and lets running requests finish', async () => {
    const { id } = await create({
      name: 'ending',
      match: { pathPrefix: '/ending' },
      token: { maxUses: null },
    });
    const token = await buy('/ending');
    const running = Promise.withResolvers<() => void>();
    server.on('/ending/long', (_request, response) => {
      response.write('first ');
      running.resolve(() => response.end('last'));
    });
    const long = await get('/ending/long', token);
    const finish = await running.promise;
    const { status, body } = await api(daemon.login, 'DELETE', `/l402/paywalls/${id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      status: 'deleted',
      url: null,
      deletedAt: expect.any(String),
      proxy: { state: 'applied' },
      stats: { challenges: 1, paid: 1, revenueMsats: 10_000 },
    });
    expect((await get('/ending', token)).status).toBe(404);
    finish();
    expect(await long.text()).toBe('first last');
    expect((await api(daemon.login, 'DELETE', `/l402/paywalls/${id}`)).status).toBe(404);
    expect((await api(daemon.login, 'GET', '/l402/paywalls/ending')).status).toBe(404);
    const { body: listed } = await api(daemon.login, 'GET', '/l402/paywalls?status=deleted');
    expect(listed.data).toMatchObject([{ id }]);
    // Name and route are free, and the old token does not fit the new paywall.
    await create({ name: 'ending', match: { pathPrefix: '/ending' } });
    expect((await challengeOf('/ending', { authorization: token })).error.reason).toBe('other_paywall');
  });

  test('during traffic answers each request either with content or with 404', async () => {
    const { id } = await create({ name: 'busy', match: { pathPrefix: '/busy' }, freePaths: ['/busy'] });
    let isDeleted = false;
    const late: number[] = [];
    const traffic = Array.from({ length: 8 }, async () => {
      for (let round = 0; round < 40; round += 1) {
        const startedAfter = isDeleted;
        const { status } = await get('/busy');
        expect([200, 404]).toContain(status);
        if (startedAfter) late.push(status);
      }
    });
    await get('/busy');
    await api(daemon.login, 'DELETE', `/l402/paywalls/${id}`);
    isDeleted = true;
    await Promise.all(traffic);
    expect(new Set(late)).toEqual(new Set([404]));
  });
});

describe('the API of paywalls', () => {
  const invalid = (field: string) => ({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });

  test('names the field that is wrong', async () => {
    const ask = (json: object) => api(daemon.login, 'POST', '/l402/paywalls', json);
    const base = { priceSats: 1, upstream: { url: server.url }, match: { pathPrefix: '/bad' } };
    expect(await ask({ ...base, priceSats: 0 })).toMatchObject(invalid('priceSats'));
    expect(await ask({ ...base, priceSats: 1.5 })).toMatchObject(invalid('priceSats'));
    expect(await ask({ ...base, name: 'No Spaces' })).toMatchObject(invalid('name'));
    expect(await ask({ ...base, name: 'first' })).toMatchObject(invalid('name'));
    expect(await ask({ ...base, match: { pathPrefix: '/first' } })).toMatchObject(invalid('match'));
    expect(await ask({ ...base, match: { pathPrefix: '/a/../b' } })).toMatchObject(
      invalid('match.pathPrefix'),
    );
    expect(await ask({ ...base, match: { pathPrefix: '/a;}' } })).toMatchObject(invalid('match.pathPrefix'));
    expect(await ask({ ...base, match: { host: 'a b' } })).toMatchObject(invalid('match.host'));
    expect(await ask({ ...base, upstream: { url: 'ftp://x' } })).toMatchObject(invalid('upstream.url'));
    expect(await ask({ ...base, upstream: { url: 'http://u:p@x' } })).toMatchObject(invalid('upstream.url'));
    const host = { url: server.url, headers: { Host: 'x' } };
    expect(await ask({ ...base, upstream: host })).toMatchObject(invalid('upstream.headers'));
    expect(await ask({ ...base, token: { constraints: { valid_until: '1' } } })).toMatchObject(
      invalid('token.constraints'),
    );
    expect(await ask({ ...base, token: { constraints: { 'tier,x': 'a' } } })).toMatchObject(
      invalid('token.constraints["tier,x"]'),
    );
    expect(await ask({ ...base, upstream: { url: server.url, headers: { 'a b': 'c' } } })).toMatchObject(
      invalid('upstream.headers["a b"]'),
    );
    expect(await ask({ ...base, unknown: 1 })).toMatchObject({ status: 422 });
  });

  test('refuses upstreams that would reach metadata services, this daemon, or a network of others', async () => {
    const problemOf = async (url: string, as = daemon.login) => {
      const { body } = await api(as, 'POST', '/l402/paywalls', {
        priceSats: 1,
        upstream: { url },
        match: { pathPrefix: '/guarded' },
      });
      return body.errors?.['upstream.url']?.[0];
    };
    for (const url of [
      'http://169.254.169.254/latest',
      'http://[fe80::1]/',
      'http://[::ffff:169.254.169.254]/',
      'http://2852039166/',
      'http://0xa9fea9fe/',
      'http://[64:ff9b::a9fe:a9fe]/',
    ]) {
      expect(await problemOf(url)).toMatch(/link-local or metadata/);
    }
    expect(await problemOf(daemon.url)).toMatch(/this daemon itself/);
    expect(await problemOf(daemon.url.replace('127.0.0.1', 'localhost'))).toMatch(/this daemon itself/);
    expect(await problemOf(daemon.url.replace('127.0.0.1', '0.0.0.0'))).toMatch(/this daemon itself/);
    expect(await problemOf(proxy)).toMatch(/this daemon itself/);
    expect(await problemOf('http://10.0.0.7/', buyer.login)).toMatch(/only the owner of the host/);
    expect(await problemOf(server.url, buyer.login)).toMatch(/only the owner of the host/);
    expect(await problemOf('http://localhost:9000', buyer.login)).toMatch(/only the owner of the host/);
  });

  test('shows paywalls only to their owner', async () => {
    const { id } = await create({ name: 'mine', match: { pathPrefix: '/mine' } });
    for (const [method, body] of [['GET'], ['PATCH', { status: 'paused' }], ['DELETE']] as const) {
      expect((await api(buyer.login, method, `/l402/paywalls/${id}`, body)).status).toBe(404);
    }
    expect((await api(buyer.login, 'GET', '/l402/paywalls')).body.data).toEqual([]);
    expect((await api('', 'DELETE', `/l402/paywalls/${id}`)).status).toBe(401);
    expect((await api(daemon.key, 'DELETE', `/l402/paywalls/${id}`)).status).toBe(403);
  });

  test('of a deleted user are gone when that is answered', async () => {
    const dan = await addPerson(daemon, 'dan');
    await givePlayMoney(daemon, dan.login, 1000);
    const upstream = { url: 'http://192.0.2.1' };
    await create({ name: 'dans', match: { pathPrefix: '/dans' }, upstream }, dan.login);
    expect((await get('/dans')).status).toBe(402);
    const json = { email: 'dan@example.com' };
    await api(dan.login, 'PATCH', '/settings/profile', json);
    expect((await api(dan.login, 'DELETE', '/settings/profile', json)).status).toBe(200);
    expect((await get('/dans')).status).toBe(404);
  });

  test('of another user take no requests from one that was there before', async () => {
    const eve = await addPerson(daemon, 'eve');
    await givePlayMoney(daemon, eve.login, 1000);
    await create({ name: 'shop', match: { pathPrefix: '/shop', methods: ['GET'] } });
    const upstream = { url: 'http://192.0.2.1' };
    const asEve = (match: object) =>
      api(eve.login, 'POST', '/l402/paywalls', { priceSats: 1, upstream, match });
    const within = [
      { pathPrefix: '/shop/cart' },
      { pathPrefix: '/shop', host: '127.0.0.1' },
      { pathPrefix: '/shop/cart', host: '127.0.0.1', methods: ['GET', 'POST'] },
      // A paywall for GET also gets HEAD requests.
      { pathPrefix: '/shop', methods: ['HEAD'] },
      { pathPrefix: '/shop/cart', methods: ['HEAD'] },
    ];
    for (const match of within) {
      const { status, body } = await asEve(match);
      expect({ match, status, errors: Object.keys(body.errors ?? {}) }).toEqual({
        match,
        status: 422,
        errors: ['match'],
      });
    }
    const beside = await create({ upstream, match: { pathPrefix: '/shopping' } }, eve.login);
    await create({ upstream, match: { pathPrefix: '/shop/cart', methods: ['POST'] } }, eve.login);
    const path = `/l402/paywalls/${beside.id}`;
    expect((await api(eve.login, 'PATCH', path, { match: { pathPrefix: '/shop/a' } })).status).toBe(422);
    // The owner of the host may, and what was there before stays as it was.
    await create({ name: 'shopping-all', match: { pathPrefix: '/shopping/all' } });
    await create({ name: 'any-host', match: { pathPrefix: '/shopping', host: '127.0.0.1' } });
    expect((await api(eve.login, 'PATCH', path, { priceSats: 2 })).status).toBe(200);
  });

  test('of all requests is only for the owner of the host', async () => {
    const gus = await addPerson(daemon, 'gus');
    await givePlayMoney(daemon, gus.login, 1000);
    const upstream = { url: 'http://192.0.2.1' };
    for (const match of [{}, { pathPrefix: '/' }, { host: 'shop.example' }]) {
      const answer = await api(gus.login, 'POST', '/l402/paywalls', { priceSats: 1, upstream, match });
      expect(answer).toMatchObject(invalid('match.pathPrefix'));
    }
    const { id } = await create({ upstream, match: { pathPrefix: '/gus' } }, gus.login);
    const path = `/l402/paywalls/${id}`;
    expect(await api(gus.login, 'PATCH', path, { match: { pathPrefix: '/' } })).toMatchObject(
      invalid('match.pathPrefix'),
    );
    expect((await api(gus.login, 'PATCH', path, { match: { methods: ['GET'] } })).status).toBe(200);
  });

  test('creates one paywall for requests with the same Idempotency-Key', async () => {
    const upstream = { url: server.url, headers: { 'x-api-key': 'sealed-where-it-is-stored' } };
    const json = { priceSats: 1, upstream, match: { pathPrefix: '/once' } };
    const ask = (body: object) =>
      askDaemon(daemon, 'POST', '/api/l402/paywalls', {
        as: daemon.login,
        json: body,
        headers: { 'idempotency-key': 'paywall-1' },
      });
    const [one, other] = await Promise.all([ask(json), ask(json)]);
    expect(one).toMatchObject({ status: 200, body: { data: { name: 'once' } } });
    expect(other.body.data.id).toBe(one.body.data.id);
    expect(await ask({ ...json, priceSats: 2 })).toMatchObject({ status: 409 });
    const { body: listed } = await api(daemon.login, 'GET', '/l402/paywalls?limit=200');
    expect(listed.data.filter(({ name }: { name: string }) => name.startsWith('once'))).toHaveLength(1);
    for (const file of ['gateway.db', 'gateway.db-wal']) {
      const bytes = await readFile(join(daemon.home, file)).catch(() => Buffer.alloc(0));
      expect(bytes.includes('sealed-where-it-is-stored')).toBe(false);
    }
  });

  test('shows the configured address of paywalls', async () => {
    const { id } = await create({ name: 'public', match: { pathPrefix: '/public' } });
    const hosted = await create({ name: 'hosted', match: { host: 'api.example', pathPrefix: '/public' } });
    const env = { GATEWAY_HOME: daemon.home };
    await runCli(['config', 'set', 'paywalls.public_url', 'https://pay.example'], { env });
    await runCli(['reload'], { env });
    try {
      expect((await show(id)).url).toBe('https://pay.example/public');
      expect((await show(hosted.id)).url).toBe('https://api.example/public');
    } finally {
      await runCli(['config', 'unset', 'paywalls.public_url'], { env });
      await runCli(['reload'], { env });
    }
    expect((await show(id)).url).toBe(`${proxy}/public`);
  });

  test('needs a wallet', async () => {
    const { login } = await addPerson(daemon, 'poor');
    const answer = await api(login, 'POST', '/l402/paywalls', {
      priceSats: 1,
      upstream: { url: 'https://example.com' },
      match: { pathPrefix: '/poor' },
    });
    expect(answer).toMatchObject(invalid('wallet'));
  });
});

test('the names that the list prints in scripts are what the other commands take', async () => {
  await create({ name: 'listed', match: { pathPrefix: '/listed' } });
  const env = { GATEWAY_HOME: daemon.home, GATEWAY_KEY: daemon.login };
  const { stdout } = await runCli(['paywalls', 'list', '--quiet'], { env });
  expect(stdout.split('\n')).toContain('listed');
  const shown = await runCli(['paywalls', 'show', 'listed', '--json=name'], { env });
  expect(JSON.parse(shown.stdout)).toEqual({ name: 'listed' });
});

test('paywalls and paid tokens survive a restart', async () => {
  await create({ name: 'lasting', match: { pathPrefix: '/lasting' }, token: { maxUses: 2 } });
  const token = await buy('/lasting');
  expect((await get('/lasting', token)).status).toBe(200);
  await daemon.stop({ keep: true });
  daemon = await startDaemon({ config, home: daemon.home });
  proxy = new URL((await show('lasting')).url).origin;
  expect((await get('/lasting', token)).status).toBe(200);
  expect((await get('/lasting', token)).status).toBe(402);
  const { body } = await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login });
  expect(body).toMatchObject({ ok: true, problems: [] });
});

async function rawRequest(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
