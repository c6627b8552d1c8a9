import { createHash } from 'node:crypto';
import { fetch402 } from '@getalby/lightning-tools/402';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import {
  formatCredential,
  lightningChargeIn,
  toBase64Url,
} from '../../src/shared/payments/payment-scheme.ts';
import { formatX402, parsePaymentRequired } from '../../src/shared/payments/x402.ts';
import { signUpAgent, viewAgent } from '../support/agents.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import {
  addPayer,
  byCredential,
  byX402,
  callModel,
  offersIn,
  openTill,
  type Payer,
  paymentsConfig,
  receiptOf,
} from '../support/paid-calls.ts';
import { runCli } from '../support/run-cli.ts';
import { openSocket } from '../support/socket-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

/** A dollar per million input tokens, and ten per million output tokens: a satoshi is worth a hundred of those. */
const model = 'fake/large';
let provider: FakeOpenAi;
let daemon: RunningDaemon;
let bob: Payer;

beforeAll(async () => {
  provider = await startFakeOpenAi();
  daemon = await startDaemon({
    config: `${paymentsConfig}agents: {difficulty: 4, sign_ups_per_address: 1000, free_requests: 1}
payments: {usd_per_btc: "100000"}
upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [large], wire: responses, prices: {input: "1", output: "10"}}]`,
    env: { FAKE_KEY: 'sk-fake' },
  });
  await openTill(daemon);
  bob = await addPayer(daemon, 'bob');
});

afterAll(async () => {
  const check = await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login });
  expect(check.body).toMatchObject({ ok: true, problems: [] });
  await daemon.stop();
  await provider.close();
});

let inputs = 0;
/** A request that no other test makes. */
const request = (more: object = {}) => {
  inputs += 1;
  return { model, input: `Question ${inputs}`, max_output_tokens: 100, store: false, ...more };
};
const balanceOf = async (key: string) =>
  Number((await askDaemon(daemon, 'GET', '/v1/key', { as: key })).body.balance_usd);
/** A new payer with an empty balance. */
let people = 0;
const newPayer = () => {
  people += 1;
  return addPayer(daemon, `payer-${people}`, 100_000);
};
/** A rejected call, its invoice paid. */
async function paidOffer(payer: Payer, body: object, path?: string) {
  const rejected = await callModel(daemon, { key: payer.key, body, ...(path !== undefined && { path }) });
  expect(rejected.status).toBe(402);
  const offers = offersIn(rejected.headers);
  const { preimage } = await payer.payInvoice({ invoice: rejected.body.error.pay.invoice });
  return { ...offers, preimage, pay: rejected.body.error.pay };
}

describe('a call that the balance does not cover', () => {
  test('is answered with one invoice, in both formats and in the body', async () => {
    const { key } = await newPayer();
    const body = request();
    const { status, headers, body: answer } = await callModel(daemon, { key, body });
    expect(status).toBe(402);
    expect(headers.get('cache-control')).toBe('no-store');
    const { error } = answer;
    expect(error).toMatchObject({ type: 'payment_required', code: 'payment_required', balance_usd: '0' });
    const { pay } = error;
    expect(pay).toMatchObject({ methods: ['lightning', 'credit'], amount_msats: pay.amount_sats * 1000 });
    // About 1,000 nano-dollars a token of the prompt and 10,000 for each of 100 tokens of output.
    expect(pay.amount_sats).toBe(2);
    const invoice = decodeInvoice(pay.invoice);
    expect(invoice).toMatchObject({ network: 'regtest', amountMsat: 2000, paymentHash: pay.payment_hash });

    const { challenge, required } = offersIn(headers);
    expect(challenge).toMatchObject({
      id: pay.challenge_id,
      method: 'lightning',
      intent: 'charge',
      expires: pay.expires_at,
      header: 'Payment-Authorization',
      digest: `sha-256=:${createHash('sha256').update(JSON.stringify(body)).digest('base64')}:`,
    });
    expect(lightningChargeIn(challenge)).toEqual({
      amount: '2',
      currency: 'sat',
      methodDetails: { invoice: pay.invoice, paymentHash: pay.payment_hash, network: 'regtest' },
    });
    expect(Date.parse(pay.expires_at)).toBeLessThanOrEqual(
      (invoice.timestamp + invoice.expirySeconds) * 1000,
    );
    expect(required).toMatchObject({
      x402Version: 2,
      resource: { url: `${daemon.url}/v1/responses` },
      accepts: [
        {
          scheme: 'exact',
          network: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
          amount: '2000',
          asset: 'BTC',
          payTo: 'anonymous',
          maxTimeoutSeconds: 600,
          extra: { paymentMethod: 'lightning', invoice: pay.invoice },
        },
      ],
    });
  });

  test('gets the same invoice when it is repeated, and another one for another body or endpoint', async () => {
    const { key } = await newPayer();
    const body = request();
    const invoiceFor = async (sent: object, path?: string) =>
      (await callModel(daemon, { key, body: sent, ...(path !== undefined && { path }) })).body.error.pay
        .invoice;
    const first = await invoiceFor(body);
    expect(await Promise.all([invoiceFor(body), invoiceFor(body)])).toEqual([first, first]);
    expect(await invoiceFor({ ...body, input: 'Something else' })).not.toBe(first);
    const chat = { model, messages: [{ role: 'user', content: 'Hi' }] };
    expect(await invoiceFor(chat, '/v1/chat/completions')).not.toBe(first);
  });

  test('of a request without a limit is priced for an answer of usual length', async () => {
    const { key } = await newPayer();
    const { max_output_tokens: _max, ...unlimited } = request();
    const { body } = await callModel(daemon, { key, body: unlimited });
    // 4,096 tokens for ten dollars a million are 41 satoshis.
    expect(body.error.pay.amount_sats).toBeGreaterThanOrEqual(41);
    expect(body.error.pay.amount_sats).toBeLessThan(44);
  });

  test('of an agent reports the free tier, too', async () => {
    const agent = await signUpAgent(daemon);
    const { status, body } = await callModel(daemon, { key: agent.secret, body: request() });
    expect(status).toBe(402);
    expect(body.error).toMatchObject({
      type: 'payment_required',
      code: 'agent_payment_required',
      pay: { methods: ['lightning', 'credit'], amount_sats: 2 },
      free_tier: { requests: { limit: 1, used: 0 } },
      balance_usd: '0',
      resets_at: expect.any(String),
    });
  });

  test('names the configured address, whatever the headers of the client claim', async () => {
    const payer = await newPayer();
    const resourceFor = async (headers: Record<string, string>) => {
      const answer = await callModel(daemon, { key: payer.key, body: request(), headers });
      return offersIn(answer.headers).required.resource?.url;
    };
    expect(await resourceFor({ 'x-forwarded-proto': 'https' })).toBe(`${daemon.url}/v1/responses`);
    const env = { GATEWAY_HOME: daemon.home };
    await runCli(['config', 'set', 'listen.public_url', 'https://gateway.example/'], { env });
    await runCli(['reload'], { env });
    try {
      expect(await resourceFor({})).toBe('https://gateway.example/v1/responses');
    } finally {
      await runCli(['config', 'unset', 'listen.public_url'], { env });
      await runCli(['reload'], { env });
    }
  });

  test('only takes credit where no wallet receives payments', async () => {
    const poor = await startDaemon({
      config: `${paymentsConfig}agents: {difficulty: 4, free_requests: 0}\n`,
    });
    try {
      const agent = await signUpAgent(poor);
      const { status, headers, body } = await callModel(poor, {
        key: agent.secret,
        body: { model: 'sim/echo', input: 'Hi' },
      });
      expect(status).toBe(402);
      expect(body.error).toMatchObject({
        type: 'insufficient_balance',
        code: 'agent_free_requests_used',
        pay: { methods: ['credit'] },
      });
      expect(headers.get('payment-required')).toBeNull();
    } finally {
      await poor.stop();
    }
  });
});

describe('a retry with the proof', () => {
  test('by a Payment credential next to the key is answered with a receipt', async () => {
    const payer = await newPayer();
    const body = request();
    const { challenge, preimage, pay } = await paidOffer(payer, body);
    const { status, headers } = await callModel(daemon, {
      key: payer.key,
      body,
      headers: byCredential(challenge, preimage),
    });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private');
    expect(receiptOf(headers)).toEqual({
      status: 'success',
      method: 'lightning',
      challengeId: challenge.id,
      reference: pay.payment_hash,
      timestamp: expect.any(String),
    });
    expect(JSON.stringify([...headers])).not.toContain(preimage);
  });

  test('by a Payment credential in place of the key', async () => {
    const payer = await newPayer();
    const body = request();
    const { challenge, preimage } = await paidOffer(payer, body);
    const authorization = formatCredential({ challenge, payload: { preimage } });
    const paid = await callModel(daemon, { body, headers: { authorization } });
    expect(paid.status).toBe(200);
    // It stands in for the key once, and only for this call.
    const again = await callModel(daemon, { body, headers: { authorization } });
    expect(again).toMatchObject({ status: 402, body: { error: { reason: 'already_used' } } });
    const elsewhere = await fetch(`${daemon.url}/v1/key`, { headers: { authorization } });
    expect(elsewhere.status).toBe(401);
  });

  test('with an Idempotency-Key is repeated with the same proof, and gets the stored answer and receipt', async () => {
    const payer = await newPayer();
    const once = { 'idempotency-key': `paid-${people}` };
    const body = request();
    const { challenge, required, preimage } = await paidOffer(payer, body);
    const standIn = formatCredential({ challenge, payload: { preimage } });
    const asked = provider.requests.length;
    const headers = { ...once, ...byCredential(challenge, preimage) };
    const [first, ...twins] = await Promise.all(
      Array.from({ length: 5 }, () => callModel(daemon, { key: payer.key, body, headers })),
    );
    const balance = await balanceOf(payer.key);
    const repeated = [
      ...twins,
      await callModel(daemon, { key: payer.key, body, headers }),
      await callModel(daemon, { body, headers: { ...once, authorization: standIn } }),
      await callModel(daemon, { key: payer.key, body, headers: { ...once, ...byX402(required) } }),
      await callModel(daemon, { key: payer.key, body, headers: once }),
    ];
    for (const again of repeated) {
      expect(again).toMatchObject({ status: 200, body: first?.body });
      expect(receiptOf(again.headers)).toMatchObject({ challengeId: challenge.id });
    }
    expect(
      repeated.filter(({ headers: sent }) => sent.get('idempotent-replayed') !== 'true').length,
    ).toBeLessThan(2);
    expect(provider.requests).toHaveLength(asked + 1);
    expect(await balanceOf(payer.key)).toBe(balance);
  });

  test('is not used up by a call that its Idempotency-Key refuses', async () => {
    const payer = await newPayer();
    const body = request();
    const { challenge, preimage } = await paidOffer(payer, body);
    const proof = byCredential(challenge, preimage);
    const ask = (key: string) =>
      callModel(daemon, { key: payer.key, body, headers: { ...proof, 'idempotency-key': key } });
    const taken = { 'idempotency-key': 'taken' };
    await callModel(daemon, { key: payer.key, body: request({ model: 'sim/echo' }), headers: taken });
    expect(await ask('taken')).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_conflict' } },
    });
    expect(await ask('not valid')).toMatchObject({ status: 400 });
    expect(await ask('free')).toMatchObject({ status: 200 });
  });

  test('by x402 is answered with the settlement, and what is left of the payment is credit', async () => {
    const payer = await newPayer();
    const body = request();
    const { required, pay } = await paidOffer(payer, body);
    const paid = await callModel(daemon, { key: payer.key, body, headers: byX402(required) });
    expect(paid.status).toBe(200);
    expect(decodePaymentResponseHeader(paid.headers.get('payment-response') ?? '')).toEqual({
      success: true,
      payer: 'anonymous',
      transaction: pay.invoice,
      network: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
      amount: '2000',
    });
    const cost = Number(paid.headers.get('x-service-cost-usd'));
    expect(cost).toBeGreaterThan(0);
    expect(await balanceOf(payer.key)).toBeCloseTo(0.002 - cost, 9);
  });

  test('is accepted on streams, chat completions and compaction', async () => {
    const payer = await newPayer();
    const streamed = request({ stream: true });
    const offer = await paidOffer(payer, streamed);
    const answer = await callModel(daemon, {
      key: payer.key,
      body: streamed,
      headers: byCredential(offer.challenge, offer.preimage),
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(receiptOf(answer.headers).challengeId).toBe(offer.challenge.id);
    expect(answer.body).toContain('data: [DONE]');
    for (const [path, body] of [
      ['/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4000 }],
      ['/v1/responses/compact', { model, input: 'A long conversation', max_output_tokens: 8000 }],
    ] as const) {
      const other = await newPayer();
      const { required } = await paidOffer(other, body, path);
      const paid = await callModel(daemon, { key: other.key, body, path, headers: byX402(required) });
      expect(paid.status).toBe(200);
      expect(paid.headers.get('payment-response')).not.toBeNull();
    }
  });

  test('is accepted on sockets, in the headers of the message', async () => {
    const payer = await newPayer();
    const socket = await openSocket(`${daemon.url}/v1/responses`, { key: payer.key });
    const message = { type: 'response.create', ...request() };
    const [rejected] = await socket.ask(message);
    expect(rejected).toMatchObject({ type: 'error', status: 402, error: { type: 'payment_required' } });
    const required = parsePaymentRequired(rejected.error.headers['payment-required']);
    const offers = offersIn(new Headers(rejected.error.headers));
    await payer.payInvoice({ invoice: rejected.error.pay.invoice });
    const headers = byX402(required ?? offers.required);
    const [other] = await socket.ask({ ...message, input: 'Something else', headers });
    expect(other).toMatchObject({ status: 402, error: { reason: 'request_mismatch' } });
    // The order of members does not matter.
    const [receipt, ...events] = await socket.ask({ headers, ...message });
    expect(receipt).toMatchObject({
      type: 'service:payment',
      headers: { 'payment-response': expect.any(String) },
    });
    expect(events.at(-1)?.type).toBe('response.completed');
    const [again] = await socket.ask({ ...message, headers });
    expect(again).toMatchObject({ status: 402, error: { reason: 'already_used' } });
    socket.disconnect();
  });

  test('of an agent pays from its balance, and counts nothing of the free tier', async () => {
    const agent = await signUpAgent(daemon);
    const body = request();
    const rejected = await callModel(daemon, { key: agent.secret, body });
    const { preimage } = await bob.payInvoice({ invoice: rejected.body.error.pay.invoice });
    const headers = byCredential(offersIn(rejected.headers).challenge, preimage);
    expect((await callModel(daemon, { key: agent.secret, body, headers })).status).toBe(200);
    const view = await viewAgent(daemon, agent.secret);
    expect(view.free_tier.requests.used).toBe(0);
    expect(Number(view.balance_usd)).toBeGreaterThan(0);
  });
});

describe('clients of others', () => {
  test('fetch402 of @getalby/lightning-tools pays a call, within its price cap', async () => {
    const payer = await newPayer();
    const init = (body: object) => ({
      method: 'POST',
      headers: { authorization: `Bearer ${payer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const url = `${daemon.url}/v1/responses`;
    const before = await payer.balance();
    await expect(fetch402(url, init(request()), { wallet: payer, maxAmount: 1 })).rejects.toThrow();
    expect(await payer.balance()).toBe(before);
    const answer = await fetch402(url, init(request()), { wallet: payer, maxAmount: 10 });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ object: 'response', status: 'completed' });
    expect(answer.headers.get('payment-receipt')).not.toBeNull();
    expect(await payer.balance()).toBe(before - 2);
  });

  test('an @x402/fetch client with a Lightning scheme pays a call', async () => {
    const payer = await newPayer();
    const client = new x402Client().setSpendControls(false).register('bip122:*', {
      scheme: 'exact',
      async createPaymentPayload(x402Version, { extra }) {
        const { invoice } = extra as { invoice: string };
        await payer.payInvoice({ invoice });
        return { x402Version, payload: { invoice } };
      },
    });
    const paying = wrapFetchWithPayment(fetch, client);
    const answer = await paying(`${daemon.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${payer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(request()),
    });
    expect(answer.status).toBe(200);
    const settled = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(settled).toMatchObject({ success: true, payer: 'anonymous' });
  });
});

describe('a payment is refused', () => {
  const refused = (reason: string) => ({
    status: 402,
    body: {
      error: {
        type: 'payment_refused',
        code: 'payment_refused',
        reason,
        pay: { invoice: expect.any(String) },
      },
    },
  });
  const credential = (json: object) => ({
    'payment-authorization': `Payment ${toBase64Url(JSON.stringify(json))}`,
  });
  const zeros = '0'.repeat(64);

  test('malformed_credential', async () => {
    const { key } = await newPayer();
    const body = request();
    const { challenge } = offersIn((await callModel(daemon, { key, body })).headers);
    for (const headers of [
      { 'payment-authorization': 'Payment nonsense!' },
      { 'payment-authorization': 'Bearer abc' },
      { 'payment-signature': '{}' },
      credential({ challenge, payload: {} }),
      credential({ challenge, payload: { preimage: zeros.replace('0', 'g') } }),
      credential({ challenge: { ...challenge, request: toBase64Url('{}') }, payload: { preimage: zeros } }),
    ]) {
      expect(await callModel(daemon, { key, body, headers })).toMatchObject(refused('malformed_credential'));
    }
    // Without a key nobody is known to issue an invoice to.
    const nobody = await callModel(daemon, { body, headers: { authorization: 'Payment nonsense!' } });
    expect(nobody.status).toBe(401);
  });

  test('a challenge without its preimage is no credential: it reads nothing and creates no invoice', async () => {
    const payer = await newPayer();
    const body = request();
    const { challenge } = offersIn((await callModel(daemon, { key: payer.key, body })).headers);
    const json = { sats: 5 };
    const bought = await askDaemon(daemon, 'POST', '/v1/credit/purchases', { as: payer.login, json });
    // Whoever pays for somebody's credit does not get to call as them.
    const { preimage } = await payer.payInvoice({ invoice: bought.body.invoice });
    const invoices = async () =>
      (await askDaemon(daemon, 'GET', '/api/payments/invoices?limit=200', { as: daemon.login })).body.data;
    const before = await invoices();
    for (const guess of [
      { challenge, payload: { preimage: zeros } },
      { challenge, payload: { preimage: `${zeros.slice(1)}1` } },
      { challenge, payload: {} },
      { challenge: { ...challenge, id: bought.body.id }, payload: { preimage } },
      { challenge, payload: { preimage } },
      { challenge: { ...challenge, id: 'unknown' }, payload: { preimage: zeros } },
    ]) {
      const authorization = `Payment ${toBase64Url(JSON.stringify(guess))}`;
      for (const path of ['/v1/responses', '/v1/chat/completions', '/v1/messages', '/v1/embeddings']) {
        const answer = await callModel(daemon, { body, path, headers: { authorization } });
        expect(answer.status).toBe(401);
        expect(JSON.stringify(answer.body)).not.toMatch(/balance|invoice|lnbc/);
      }
    }
    expect(await invoices()).toEqual(before);
  });

  test('unknown_challenge', async () => {
    const { key } = await newPayer();
    const body = request();
    const { challenge, required } = offersIn((await callModel(daemon, { key, body })).headers);
    const [accepted] = required.accepts;
    if (!accepted) throw new Error('nothing is accepted');
    const payload = { invoice: 'lnbcrt1unknown' };
    for (const headers of [
      credential({ challenge: { ...challenge, id: 'unknown' }, payload: { preimage: zeros } }),
      credential({ challenge: { ...challenge, realm: 'elsewhere' }, payload: { preimage: zeros } }),
      { 'payment-signature': formatX402({ x402Version: 2, accepted, payload }) },
    ]) {
      expect(await callModel(daemon, { key, body, headers })).toMatchObject(refused('unknown_challenge'));
    }
  });

  test('invalid_preimage and invoice_unpaid', async () => {
    const { key } = await newPayer();
    const body = request();
    const { challenge, required } = offersIn((await callModel(daemon, { key, body })).headers);
    const guessed = await callModel(daemon, { key, body, headers: byCredential(challenge, zeros) });
    expect(guessed).toMatchObject(refused('invalid_preimage'));
    const unpaid = await callModel(daemon, { key, body, headers: byX402(required) });
    expect(unpaid).toMatchObject(refused('invoice_unpaid'));
    expect(decodePaymentResponseHeader(unpaid.headers.get('payment-response') ?? '')).toMatchObject({
      success: false,
      errorReason: 'invoice_unpaid',
      transaction: '',
    });
    expect(offersIn(unpaid.headers).challenge.method).toBe('lightning');
  });

  test('amount_mismatch and network_mismatch', async () => {
    const payer = await newPayer();
    const body = request();
    const { challenge, required, preimage } = await paidOffer(payer, body);
    const { key } = payer;
    const charge = lightningChargeIn(challenge);
    const [accepted] = required.accepts;
    if (!charge || !accepted) throw new Error('nothing is offered');
    const withCharge = (change: object) =>
      credential({
        challenge: { ...challenge, request: toBase64Url(JSON.stringify({ ...charge, ...change })) },
        payload: { preimage },
      });
    const withAccepted = (change: object) => ({
      'payment-signature': formatX402({
        x402Version: 2,
        accepted: { ...accepted, ...change },
        payload: { invoice: accepted.extra?.invoice },
      }),
    });
    const { methodDetails } = charge;
    const ask = (headers: Record<string, string>) => callModel(daemon, { key, body, headers });
    expect(await ask(withCharge({ amount: '1' }))).toMatchObject(refused('amount_mismatch'));
    expect(await ask(withAccepted({ amount: '1' }))).toMatchObject(refused('amount_mismatch'));
    expect(await ask(withCharge({ methodDetails: { ...methodDetails, network: 'mainnet' } }))).toMatchObject(
      refused('network_mismatch'),
    );
    const network = 'bip122:000000000019d6689c085ae165831e93';
    expect(await ask(withAccepted({ network }))).toMatchObject(refused('network_mismatch'));
    // None of this used it up.
    expect(await ask(byCredential(challenge, preimage))).toMatchObject({ status: 200 });
  });

  test('before anything else is done: the provider is not asked', async () => {
    const { key } = await newPayer();
    const asked = provider.requests.length;
    const headers = { 'payment-authorization': 'Payment nonsense!' };
    await callModel(daemon, { key, body: request(), headers });
    expect(provider.requests).toHaveLength(asked);
  });

  test('even if the balance covers the call', async () => {
    const payer = await newPayer();
    const body = request();
    const { required } = await paidOffer(payer, body);
    await callModel(daemon, { key: payer.key, body, headers: byX402(required) });
    const cheap = request({ max_output_tokens: 16 });
    expect((await callModel(daemon, { key: payer.key, body: cheap })).status).toBe(200);
    const replayed = await callModel(daemon, { key: payer.key, body, headers: byX402(required) });
    expect(replayed).toMatchObject(refused('already_used'));
  });
});

describe('what other gateways got wrong', () => {
  test('a one-time proof that several clients use at once is consumed before the call', async () => {
    const payer = await newPayer();
    const body = request({ stream: true });
    const { challenge, preimage } = await paidOffer(payer, body);
    const authorization = formatCredential({ challenge, payload: { preimage } });
    const asked = provider.requests.length;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => callModel(daemon, { body, headers: { authorization } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(provider.requests).toHaveLength(asked + 1);
  });

  test('top-ups, failed calls and calls at the same time lose nothing', async () => {
    const payer = await newPayer();
    const before = await payer.balance();
    const bodies = Array.from({ length: 12 }, (_, index) => request({ max_output_tokens: 16 + index * 90 }));
    const costs = await Promise.all(
      bodies.map(async (body, index) => {
        const { required } = await paidOffer(payer, body);
        if (index % 3 === 2) provider.script({ error: { status: 500, message: 'Try later.' } });
        const paid = await callModel(daemon, { key: payer.key, body, headers: byX402(required) });
        return Number(paid.headers.get('x-service-cost-usd') ?? 0);
      }),
    );
    const spentSats = before - (await payer.balance());
    const spent = costs.reduce((sum, cost) => sum + cost, 0);
    expect(await balanceOf(payer.key)).toBeCloseTo(spentSats / 1000 - spent, 9);
  });

  test('one proof sent 20 times pays one call, and none with another body or path', async () => {
    const payer = await newPayer();
    const body = request();
    const { required, challenge, preimage } = await paidOffer(payer, body);
    const { key } = payer;
    const other = await callModel(daemon, {
      key,
      body: { ...body, input: 'Other' },
      headers: byX402(required),
    });
    expect(other).toMatchObject({ status: 402, body: { error: { reason: 'request_mismatch' } } });
    const path = '/v1/responses/compact';
    const elsewhere = await callModel(daemon, {
      key,
      body,
      path,
      headers: byCredential(challenge, preimage),
    });
    expect(elsewhere).toMatchObject({ status: 402, body: { error: { reason: 'request_mismatch' } } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        callModel(daemon, {
          key,
          body,
          headers: index % 2 === 0 ? byX402(required) : byCredential(challenge, preimage),
        }),
      ),
    );
    const [paid, ...more] = answers.filter(({ status }) => status === 200);
    expect(paid).toBeDefined();
    expect(more).toEqual([]);
    const refusals = answers.filter(({ status }) => status === 402);
    expect(refusals).toHaveLength(19);
    for (const { body: answer } of refusals) expect(answer.error.reason).toBe('already_used');
    // The new invoice is the same for all of them.
    expect(new Set(refusals.map(({ body: answer }) => answer.error.pay.invoice)).size).toBe(1);
  });

  test('paid invoices of another caller, wallet or purpose are no proof', async () => {
    const [payer, stranger] = [await newPayer(), await newPayer()];
    const body = request();
    const own = offersIn((await callModel(daemon, { key: payer.key, body })).headers);
    const theirs = await paidOffer(stranger, body);
    const refusal = { status: 402, body: { error: { reason: 'unknown_challenge' } } };
    const ask = (headers: Record<string, string>) => callModel(daemon, { key: payer.key, body, headers });
    expect(await ask(byCredential(theirs.challenge, theirs.preimage))).toMatchObject(refusal);
    expect(await ask(byX402(theirs.required))).toMatchObject(refusal);
    // An invoice of the same wallet that was not issued for a call.
    const made = await askDaemon(daemon, 'POST', '/api/payments/invoice', {
      as: daemon.login,
      json: { amountSats: 2 },
    });
    const { paymentRequest } = made.body.data.invoice;
    const { preimage } = await payer.payInvoice({ invoice: paymentRequest });
    const [accepted] = own.required.accepts;
    if (!accepted) throw new Error('nothing is accepted');
    const payload = { invoice: paymentRequest };
    expect(
      await ask({ 'payment-signature': formatX402({ x402Version: 2, accepted, payload }) }),
    ).toMatchObject(refusal);
    expect(await ask(byCredential(own.challenge, preimage))).toMatchObject({
      status: 402,
      body: { error: { reason: 'invalid_preimage' } },
    });
    // Their own proof still pays for them.
    const paid = await callModel(daemon, { key: stranger.key, body, headers: byX402(theirs.required) });
    expect(paid.status).toBe(200);
  });

  test('calls and credit are never charged by an invoice without an amount', async () => {
    const { key, login } = await newPayer();
    const { body: rejected } = await callModel(daemon, { key, body: request() });
    const { pay } = rejected.error;
    expect(decodeInvoice(pay.invoice).amountMsat).toBe(pay.amount_msats);
    for (const json of [{ sats: 1 }, { usd: '0.01' }]) {
      const { status, body } = await askDaemon(daemon, 'POST', '/v1/credit/purchases', { as: login, json });
      expect(status).toBe(200);
      expect(decodeInvoice(body.invoice).amountMsat).toBe(body.amount_sats * 1000);
      expect(body.amount_sats).toBeGreaterThan(0);
    }
    const { status } = await askDaemon(daemon, 'POST', '/v1/credit/purchases', { as: login, json: {} });
    expect(status).toBe(400);
  });

  test('callers who never pay get a limited number of invoices', async () => {
    const { key } = await newPayer();
    const answers = await Promise.all(
      Array.from({ length: 70 }, () => callModel(daemon, { key, body: request() })),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 402).length).toBeGreaterThanOrEqual(60);
    for (const { body, headers } of limited) {
      expect(body.error.code).toBe('rate_limited');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });
});
