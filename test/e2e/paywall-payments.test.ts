import { connect } from 'node:net';
import { fetch402 } from '@getalby/lightning-tools/402';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import {
  formatCredential,
  lightningChargeIn,
  type PaymentChallenge,
  parseChallenges,
  toBase64Url,
} from '../../src/shared/payments/payment-scheme.ts';
import { Wire } from '../daemon/http/http-fixture.ts';
import { addPayer, openTill, type Payer, paymentsConfig, receiptOf } from '../support/paid-calls.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

let daemon: RunningDaemon;
let server: PaywalledServer;
let payer: Payer;
let proxy: string;
let created = 0;

const api = (method: string, path: string, json?: object) =>
  askDaemon(daemon, method, `/api/l402/paywalls${path}`, { as: daemon.login, ...(json && { json }) });
/** A new paywall; its name is also its path. */
const create = async (json: object = {}): Promise<string> => {
  created += 1;
  const name = `paid-${created}`;
  const { status, body } = await api('POST', '', {
    name,
    priceSats: 3,
    match: { pathPrefix: `/${name}` },
    upstream: { url: server.url },
    ...json,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  proxy = new URL(body.data.url).origin;
  return `/${name}`;
};
const ask = (path: string, init: RequestInit = {}) => fetch(proxy + path, init);
interface Asked {
  challenge: PaymentChallenge;
  invoice: string;
  macaroon: string;
}
const challenged = async (path: string, init: RequestInit = {}): Promise<Asked> => {
  const response = await ask(path, init);
  expect(response.status).toBe(402);
  const [challenge] = parseChallenges(response.headers.get('www-authenticate') ?? '');
  if (!challenge) throw new Error('no Payment challenge');
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
  const { pay } = ((await response.json()) as any).error;
  return { challenge, invoice: pay.invoice, macaroon: pay.macaroon };
};
const buy = async (path: string, init: RequestInit = {}) => {
  const asked = await challenged(path, init);
  const { preimage } = await payer.payInvoice(asked);
  const credential = formatCredential({ challenge: asked.challenge, payload: { preimage } });
  return { ...asked, preimage, credential, l402: `L402 ${asked.macaroon}:${preimage}` };
};
const refusalOf = async (path: string, authorization: string, init: RequestInit = {}) => {
  const response = await ask(path, { ...init, headers: { ...init.headers, authorization } });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
  const { error } = (await response.json()) as any;
  return { status: response.status, reason: error?.reason };
};
const refused = (reason: string) => ({ status: 402, reason });

beforeAll(async () => {
  server = await startPaywalledServer();
  daemon = await startDaemon({ config: paymentsConfig });
  await openTill(daemon);
  payer = await addPayer(daemon, 'payer');
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

beforeEach(() => {
  server.seen.length = 0;
});

test('a paywall asks for one invoice by L402, in the first line, and by the Payment scheme', async () => {
  const path = await create();
  const raw = await rawRequest(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  const lines = raw.split('\r\n').filter((line) => /^www-authenticate:/i.test(line));
  expect(lines.map((line) => line.split(' ')[1])).toEqual(['L402', 'Payment']);
  const { challenge, invoice } = await challenged(path);
  expect(challenge).toMatchObject({
    method: 'lightning',
    intent: 'charge',
    realm: path.slice(1),
    header: 'Payment-Authorization',
    expires: expect.any(String),
  });
  expect(lightningChargeIn(challenge)).toMatchObject({
    amount: '3',
    currency: 'sat',
    methodDetails: { invoice, network: 'regtest' },
  });
});

test('a Payment credential pays for one request, in either header, and its answer has a receipt', async () => {
  const path = await create();
  for (const header of ['authorization', 'payment-authorization']) {
    const { challenge, credential } = await buy(`${path}/a?q=1`);
    const paid = await ask(`${path}/a?q=1`, { headers: { [header]: credential } });
    expect([paid.status, await paid.json()]).toEqual([200, { path: `${path}/a?q=1`, length: 0 }]);
    expect(receiptOf(paid.headers)).toMatchObject({
      status: 'success',
      method: 'lightning',
      challengeId: challenge.id,
      reference: lightningChargeIn(challenge)?.methodDetails.paymentHash,
    });
    expect(paid.headers.get('cache-control')).toBe('private');
    expect(await refusalOf(`${path}/a?q=1`, credential)).toEqual(refused('already_used'));
  }
  expect(server.seen).toHaveLength(2);
  for (const { headers } of server.seen) {
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('payment-authorization');
    expect(headers['x-paywall-token']).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('a Payment credential leaves Authorization to the upstream', async () => {
  const path = await create();
  const { credential } = await buy(path);
  const headers = { authorization: 'Bearer mine', 'payment-authorization': credential };
  expect((await ask(path, { headers })).status).toBe(200);
  expect(server.seen[0]?.headers.authorization).toBe('Bearer mine');
});

test('a Payment credential allows what was sold, whatever the paywall sells by then', async () => {
  const path = await create({ token: { capabilities: ['read'], constraints: { tier: 'silver' } } });
  const { credential } = await buy(path);
  const token = { capabilities: ['read', 'admin'], constraints: { tier: 'gold' } };
  expect((await api('PATCH', path, { token })).status).toBe(200);
  expect((await ask(path, { headers: { authorization: credential } })).status).toBe(200);
  expect(server.seen[0]?.headers).toMatchObject({
    'x-paywall-capabilities': 'read',
    'x-paywall-constraints': 'tier=silver',
  });
});

test('a Payment credential is bound to method, path, query and body', async () => {
  const path = await create();
  const post = { method: 'POST', body: '{"ask":1}', headers: { 'content-type': 'application/json' } };
  const { credential, challenge } = await buy(`${path}?a=1`, post);
  expect(challenge.digest).toMatch(/^sha-256=:.+:$/);
  const put = { ...post, method: 'PUT' };
  expect(await refusalOf(`${path}?a=1`, credential, put)).toEqual(refused('request_mismatch'));
  expect(await refusalOf(`${path}?a=2`, credential, post)).toEqual(refused('request_mismatch'));
  expect(await refusalOf(`${path}/b?a=1`, credential, post)).toEqual(refused('request_mismatch'));
  const other = { ...post, body: '{"ask":2}' };
  expect(await refusalOf(`${path}?a=1`, credential, other)).toEqual(refused('request_mismatch'));
  expect(await refusalOf(`${path}?a=1`, credential, { method: 'POST' })).toEqual(refused('request_mismatch'));
  expect(server.seen).toEqual([]);
  expect((await ask(`${path}?a=1`, { ...post, headers: { authorization: credential } })).status).toBe(200);
  expect(server.seen).toMatchObject([{ method: 'POST', body: '{"ask":1}' }]);
});

test('a body of unknown length is compared, too', async () => {
  const path = await create();
  const post = (body: string) => ({ method: 'POST', body: streamOf(body), duplex: 'half' }) as RequestInit;
  const { credential } = await buy(path, post('one'));
  expect(await refusalOf(path, credential, post('two'))).toEqual(refused('request_mismatch'));
  expect(await refusalOf(path, credential, post('x'.repeat(1_000_000)))).toEqual(refused('request_mismatch'));
  expect(server.seen).toEqual([]);
  expect((await ask(path, { ...post('one'), headers: { authorization: credential } })).status).toBe(200);
  expect(server.seen).toMatchObject([{ method: 'POST', body: 'one' }]);
});

test.each([
  ['of known length', () => ({ body: 'x'.repeat(1_000_000) })],
  ['of unknown length', () => ({ body: streamOf('x'.repeat(1_000_000)), duplex: 'half' })],
])('a body %s that is too long to be compared is paid by L402 only', async (_, bodyOf) => {
  const post = () => ({ method: 'POST', ...bodyOf() }) as RequestInit;
  const path = await create();
  const asked = await ask(path, post());
  expect(asked.status).toBe(402);
  expect(parseChallenges(asked.headers.get('www-authenticate') ?? '')).toEqual([]);
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
  const { pay } = ((await asked.json()) as any).error;
  expect(pay).not.toHaveProperty('challenge_id');
  const { preimage } = await payer.payInvoice(pay);
  const l402 = `L402 ${pay.macaroon}:${preimage}`;
  const paid = await ask(path, { ...post(), headers: { authorization: l402 } });
  expect(await paid.json()).toEqual({ path, length: 1_000_000 });

  const other = await create({ authScheme: 'mpp' });
  const { credential } = await buy(other, { method: 'POST' });
  server.seen.length = 0;
  for (const headers of [{}, { authorization: credential }]) {
    const rejected = await ask(other, { ...post(), headers });
    expect([rejected.status, await rejected.json()]).toMatchObject([
      413,
      { error: { code: 'limit_exceeded', message: expect.stringContaining('256 kB') } },
    ]);
  }
  expect(server.seen).toEqual([]);
});

test('a large body does not keep its sender from reading what to pay, on a connection that stays open', async () => {
  const path = await create();
  const { host, port } = new URL(proxy);
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 16000000\r\n\r\n`;
  const half = Buffer.alloc(8_000_000, 'x');
  const wire = new Wire(Number(port)).send(head).send(half);
  await wire.until(/^HTTP\/1\.1 402 .*"amount_sats":3/s);
  wire.send(half).send(head);
  await wire.until(/(402 Payment Required.*){2}/s);
  expect(server.seen).toEqual([]);
});

test('one Payment credential sent 20 times pays for one request', async () => {
  const path = await create();
  const { credential } = await buy(path);
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await refusalOf(path, credential)).status),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 402)).toHaveLength(19);
  expect(server.seen).toHaveLength(1);
});

test('neither a paywall nor a wallet asks for payment by an invoice without an amount', async () => {
  const { invoice } = await challenged(await create({ priceSats: 1 }));
  expect(decodeInvoice(invoice).amountMsat).toBe(1000);
  const asOwner = (json: object) =>
    askDaemon(daemon, 'POST', '/api/payments/invoice', { as: daemon.login, json });
  expect(await asOwner({})).toMatchObject({
    status: 422,
    body: { errors: { amountSats: expect.any(Array) } },
  });
  expect((await asOwner({ amountSats: null })).status).toBe(422);
  const { body } = await asOwner({ amountSats: 5 });
  expect(decodeInvoice(body.data.invoice.paymentRequest).amountMsat).toBe(5000);
});

test('a paid invoice of another paywall or of the wallet is no proof', async () => {
  const path = await create();
  const asked = await challenged(path);
  const { body } = await askDaemon(daemon, 'POST', '/api/payments/invoice', {
    as: daemon.login,
    json: { amountSats: 3 },
  });
  const { preimage } = await payer.payInvoice({ invoice: body.data.invoice.paymentRequest });
  const other = await buy(await create());
  for (const foreign of [preimage, other.preimage]) {
    const credential = formatCredential({ challenge: asked.challenge, payload: { preimage: foreign } });
    expect(await refusalOf(path, credential)).toEqual(refused('invalid_preimage'));
    expect(await refusalOf(path, `L402 ${asked.macaroon}:${foreign}`)).toEqual(refused('invalid_preimage'));
  }
  expect(server.seen).toEqual([]);
});

test('one payment is used by L402 or by the Payment scheme, not by both', async () => {
  const path = await create();
  const byCharge = await buy(path);
  expect((await ask(path, { headers: { authorization: byCharge.credential } })).status).toBe(200);
  expect(await refusalOf(path, byCharge.l402)).toEqual(refused('used_up'));
  const byToken = await buy(path);
  expect((await ask(path, { headers: { authorization: byToken.l402 } })).status).toBe(200);
  expect(await refusalOf(path, byToken.credential)).toEqual(refused('already_used'));
  const many = await create({ token: { maxUses: 3 } });
  const { credential, l402 } = await buy(many);
  const statusOf = async (authorization: string) => (await refusalOf(many, authorization)).status;
  expect([await statusOf(credential), await statusOf(credential)]).toEqual([200, 402]);
  expect([await statusOf(l402), await statusOf(l402), await statusOf(l402)]).toEqual([200, 200, 402]);
});

test('a credential is refused with a reason when it is damaged, altered, forged or for another paywall', async () => {
  const path = await create();
  const { challenge, credential, preimage } = await buy(path);
  const present = (changes: Partial<PaymentChallenge>, proof = preimage) =>
    formatCredential({ challenge: { ...challenge, ...changes }, payload: { preimage: proof } });
  const charge = lightningChargeIn(challenge);
  const cheaper = toBase64Url(JSON.stringify({ ...charge, amount: '1' }));
  expect(await refusalOf(path, 'Payment nonsense')).toEqual(refused('malformed_credential'));
  expect(await refusalOf(path, present({ id: 'unknown' }))).toEqual(refused('unknown_challenge'));
  expect(await refusalOf(path, present({ realm: 'other' }))).toEqual(refused('unknown_challenge'));
  expect(await refusalOf(path, present({ request: cheaper }))).toEqual(refused('amount_mismatch'));
  expect(await refusalOf(path, present({}, '0'.repeat(64)))).toEqual(refused('invalid_preimage'));
  expect(await refusalOf(await create(), credential)).toEqual(refused('other_paywall'));
  expect((await ask(path, { headers: { authorization: credential } })).status).toBe(200);
});

test('a credential keeps its use when the upstream cannot be reached, and failures get no receipt', async () => {
  const gone = await startPaywalledServer();
  const path = await create({ upstream: { url: gone.url } });
  const { credential } = await buy(path);
  await gone.close();
  const failed = await ask(path, { headers: { authorization: credential } });
  expect([failed.status, failed.headers.get('payment-receipt')]).toEqual([502, null]);
  await api('PATCH', path, { upstream: { url: server.url } });
  server.on(path, (_request, response) => response.writeHead(500).end());
  const answered = await ask(path, { headers: { authorization: credential } });
  expect([answered.status, answered.headers.get('payment-receipt')]).toEqual([500, null]);
  expect(await refusalOf(path, credential)).toEqual(refused('already_used'));
});

test('a receipt replaces that of the upstream, and keeps an answer out of shared caches', async () => {
  const path = await create();
  const headersOf = async (cacheControl: string) => {
    server.on(path, (_request, response) => {
      response.writeHead(200, { 'cache-control': cacheControl, 'payment-receipt': 'forged' });
      response.end();
    });
    const { credential } = await buy(path);
    const { headers } = await ask(path, { headers: { authorization: credential } });
    expect(receiptOf(headers)).toBeDefined();
    return headers.get('cache-control');
  };
  expect(await headersOf('public, max-age=60')).toBe('private');
  expect(await headersOf('no-store')).toBe('no-store');
});

test('a paywall offers only the schemes of its `authScheme`, and accepts what was paid before a change', async () => {
  const schemesOf = async (path: string) => {
    const response = await ask(path);
    const offered = response.headers.get('www-authenticate') ?? '';
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
    const { error } = (await response.json()) as any;
    return [/^L402 /.test(offered), /(^|, )Payment /.test(offered), 'macaroon' in error.pay];
  };
  const path = await create({ authScheme: 'l402' });
  expect(await schemesOf(path)).toEqual([true, false, true]);
  const { body } = await api('PATCH', path, { authScheme: 'mpp' });
  expect(body.data).toMatchObject({ authScheme: 'mpp' });
  expect(await schemesOf(path)).toEqual([false, true, false]);
  const { credential } = await buy(path);
  await api('PATCH', path, { authScheme: 'l402' });
  expect((await ask(path, { headers: { authorization: credential } })).status).toBe(200);

  const error = { status: 422, body: { errors: { 'token.maxUses': [expect.any(String)] } } };
  expect(await api('PATCH', path, { authScheme: 'mpp', token: { maxUses: 2 } })).toMatchObject(error);
  expect(await api('PATCH', path, { authScheme: 'mpp', token: { maxUses: null } })).toMatchObject(error);
  expect(await api('PATCH', path, { authScheme: 'lsat' })).toMatchObject({ status: 422 });
});

test.each(['l402', 'mpp', 'l402+mpp'])(
  'fetch402 of @getalby/lightning-tools pays a paywall with the scheme %s',
  async (authScheme) => {
    const path = await create({ authScheme });
    const before = await payer.balance();
    await expect(fetch402(proxy + path, {}, { wallet: payer, maxAmount: 2 })).rejects.toThrow();
    const answer = await fetch402(proxy + path, {}, { wallet: payer, maxAmount: 3 });
    expect([answer.status, await answer.json()]).toEqual([200, { path, length: 0 }]);
    expect(await payer.balance()).toBe(before - 3);
  },
);

function streamOf(text: string): ReadableStream {
  return new Blob([text]).stream();
}

async function rawRequest(text: string): Promise<string> {
  const socket = connect(Number(new URL(proxy).port), '127.0.0.1');
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
