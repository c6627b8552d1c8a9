import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chromium, inPage } from '../support/page-in-chromium.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { givePlayMoney } from '../support/play-money.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect in it.
type Json = any;

const config = 'vault: {keychain: false, insecure_plain_file: true}\n';
const app = 'https://app.example';

let daemon: RunningDaemon;
let server: PaywalledServer;

beforeAll(async () => {
  server = await startPaywalledServer();
  server.on('/own-cors', (_request, response) => {
    response.setHeader('access-control-allow-origin', 'https://other.example');
    response.setHeader('access-control-allow-credentials', 'true');
    response.setHeader('access-control-expose-headers', 'x-shown');
    response.setHeader('vary', 'accept');
    response.end('Bought.');
  });
  daemon = await startDaemon({ config });
  await givePlayMoney(daemon, daemon.login, 100_000);
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

beforeEach(() => {
  server.seen.length = 0;
});

let paywalls = 0;
/** A paywall for a path of its own, which is removed from what the upstream is asked. */
async function create(json: object): Promise<Json> {
  paywalls += 1;
  const body = {
    priceSats: 10,
    match: { pathPrefix: `/shop${paywalls}` },
    upstream: { url: server.url, rewritePrefix: '' },
    ...json,
  };
  const answer = await askDaemon(daemon, 'POST', '/api/l402/paywalls', { as: daemon.login, json: body });
  expect({ status: answer.status, errors: answer.body.errors }).toEqual({ status: 200, errors: undefined });
  return answer.body.data;
}
const statsOf = async ({ id }: Json) =>
  (await askDaemon(daemon, 'GET', `/api/l402/paywalls/${id}`, { as: daemon.login })).body.data.stats;

const preflight = (url: string, origin: string, { method = 'GET', headers = {} as object } = {}) =>
  fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, ...headers },
  });
/** The headers of a response about pages. */
const pageHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));
const pay = async (invoice: string): Promise<string> => {
  const json = { invoice };
  const { body } = await askDaemon(daemon, 'POST', '/api/payments/pay', { as: daemon.login, json });
  return body.data.payment.preimage;
};
const buy = async (url: string, origin: string): Promise<Response> => {
  const { error } = (await (await fetch(url, { headers: { origin } })).json()) as Json;
  const authorization = `L402 ${error.pay.macaroon}:${await pay(error.pay.invoice)}`;
  return await fetch(url, { headers: { origin, authorization } });
};

describe('a page of an allowed origin', () => {
  test('is told by a preflight what it may send, and nothing is charged or forwarded', async () => {
    const paywall = await create({ allowedOrigins: [`${app}/`], match: { pathPrefix: '/preflight' } });
    const answer = await preflight(paywall.url, app, {
      method: 'POST',
      headers: {
        'access-control-request-headers': 'authorization, x-custom',
        'access-control-request-private-network': 'true',
      },
    });
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
      204,
      null,
      '',
    ]);
    expect(pageHeaders(answer)).toEqual({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, x-custom',
      'access-control-allow-private-network': 'true',
      'access-control-max-age': '600',
      vary: 'origin, access-control-request-method, access-control-request-headers',
    });
    expect(server.seen).toEqual([]);
    expect(await statsOf(paywall)).toMatchObject({ challenges: 0 });
  });

  test('can read how to pay, and what it bought', async () => {
    const { url } = await create({ allowedOrigins: [app] });
    const asked = await fetch(url, { headers: { origin: app } });
    expect([asked.status, pageHeaders(asked)]).toEqual([
      402,
      {
        'access-control-allow-origin': app,
        'access-control-expose-headers': expect.stringContaining('www-authenticate, payment-required'),
        vary: 'origin',
      },
    ]);
    const bought = await buy(url, app);
    expect(bought.status).toBe(200);
    expect(pageHeaders(bought)).toEqual(pageHeaders(asked));
  });

  test('gets the headers of the paywall in place of those of the upstream', async () => {
    const { url } = await create({ allowedOrigins: [app] });
    const bought = await buy(`${url}/own-cors`, app);
    expect(await bought.text()).toBe('Bought.');
    expect(pageHeaders(bought)).toEqual({
      'access-control-allow-origin': app,
      'access-control-expose-headers': expect.stringMatching(/^www-authenticate, .*, x-shown$/),
      vary: 'accept, origin',
    });
  });

  test('can read failures of the paywall and of its upstream', async () => {
    const { id, url } = await create({
      allowedOrigins: [app],
      freePaths: ['/down', '/down/*'],
      match: { pathPrefix: '/down' },
      upstream: { url: 'http://127.0.0.1:1' },
    });
    const failed = await fetch(url, { headers: { origin: app } });
    expect([failed.status, failed.headers.get('access-control-allow-origin')]).toEqual([502, app]);
    const json = { status: 'paused' };
    await askDaemon(daemon, 'PATCH', `/api/l402/paywalls/${id}`, { as: daemon.login, json });
    const paused = await fetch(url, { headers: { origin: app } });
    expect([paused.status, paused.headers.get('access-control-allow-origin')]).toEqual([503, app]);
    expect((await preflight(url, app)).status).toBe(204);
  });

  test('learns that a method is not served', async () => {
    const { url } = await create({ allowedOrigins: [app], match: { pathPrefix: '/gets', methods: ['GET'] } });
    expect((await preflight(url, app, { method: 'GET' })).status).toBe(204);
    expect((await preflight(url, app, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('a page of another origin', () => {
  test.each([[[app]], [[]]])('may not send anything to a paywall for %j', async (allowedOrigins) => {
    const paywall = await create({ allowedOrigins });
    const refused = await preflight(paywall.url, 'https://evil.example');
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: 'origin_not_allowed' } },
    ]);
    expect(refused.headers.has('access-control-allow-origin')).toBe(false);
    expect(server.seen).toEqual([]);
    expect(await statsOf(paywall)).toMatchObject({ challenges: 0 });
  });

  test('may read nothing, whatever the upstream says', async () => {
    const { url } = await create({ allowedOrigins: [app] });
    expect(pageHeaders(await fetch(url, { headers: { origin: 'https://evil.example' } }))).toEqual({
      vary: 'origin',
    });
    const bought = await buy(`${url}/own-cors`, 'https://other.example');
    expect(pageHeaders(bought)).toEqual({ vary: 'accept, origin' });
  });
});

describe('a paywall', () => {
  test('can allow any origin', async () => {
    const { url } = await create({ allowedOrigins: ['*'] });
    expect(pageHeaders(await preflight(url, 'null'))).toMatchObject({ 'access-control-allow-origin': '*' });
    const asked = pageHeaders(await fetch(url, { headers: { origin: app } }));
    expect(asked).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.any(String),
    });
  });

  test('without origins leaves the headers of its upstream alone, and preflights of its free paths', async () => {
    const { url } = await create({ freePaths: ['/free/*'], match: { pathPrefix: '/free' } });
    const allowed = await preflight(`${url}/own-cors`, app);
    expect(pageHeaders(allowed)).toMatchObject({
      'access-control-allow-origin': 'https://other.example',
      'access-control-allow-credentials': 'true',
    });
    await preflight(`${url}/seen`, app);
    expect(server.seen).toMatchObject([{ method: 'OPTIONS', url: '/seen' }]);
  });

  test('charges an OPTIONS request that is no preflight', async () => {
    const { url } = await create({ allowedOrigins: [app] });
    expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(402);
  });

  test.each([['app.example'], ['https://*.example'], ['https://app.example/path'], ['https:']])(
    'refuses %s as an origin',
    async (origin) => {
      const json = { priceSats: 1, upstream: { url: server.url }, allowedOrigins: [origin] };
      const answer = await askDaemon(daemon, 'POST', '/api/l402/paywalls', { as: daemon.login, json });
      expect(answer.status).toBe(422);
    },
  );

  test('is created with origins by a command', async () => {
    const args = ['--upstream', server.url, '--price', '1', '--path', '/command', '--allow-origin', app];
    const env = { GATEWAY_HOME: daemon.home };
    const { code, stdout } = await runCli(['paywalls', 'create', ...args, '--json'], { env });
    expect([code, JSON.parse(stdout).allowedOrigins]).toEqual([0, [app]]);
  });
});

const reason = chromium === undefined ? ' (skipped: Chromium is not installed)' : '';
test.skipIf(chromium === undefined)(`Chromium lets a page of an allowed origin buy${reason}`, async () => {
  const bought = await inPage(
    async (origin) => {
      const { url } = await create({ allowedOrigins: [origin] });
      return `
        const asked = await fetch('${url}', { method: 'POST', body: 'beans', headers: { 'x-custom': '1' } });
        const [, macaroon, invoice] = /L402 macaroon="([^"]+)", invoice="([^"]+)"/.exec(asked.headers.get('www-authenticate'));
        const authorization = 'L402 ' + macaroon + ':' + await call(invoice);
        const paid = await fetch('${url}', { method: 'POST', body: 'beans', headers: { authorization, 'x-custom': '1' } });
        return [asked.status, paid.status, await paid.json()];`;
    },
    { call: pay },
  );
  expect(bought).toEqual([402, 200, expect.objectContaining({ length: 5 })]);
});

test.skipIf(chromium === undefined)(`Chromium lets no page of another origin buy${reason}`, async () => {
  const { url } = await create({ allowedOrigins: [app] });
  const script = `return await fetch('${url}', { headers: { 'x-custom': '1' } }).then(() => 'read', () => 'refused');`;
  expect(await inPage(() => script, { call: pay })).toBe('refused');
});
