import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch402 } from '@getalby/lightning-tools/402';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { formatX402 } from '../../src/shared/payments/x402.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { lndMacaroon, startFakeLnd } from '../support/lightning/fake-lnd.ts';
import { FakeNode } from '../support/lightning/fake-node.ts';
import { callModel, offersIn, openTill, paymentsConfig } from '../support/paid-calls.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { localhostCertificate } from '../support/test-certificate.ts';
import { addPerson, askDaemon } from '../support/users.ts';

/** By the first block of the main chain, as CAIP-2 names it. */
const mainChain = '000000000019d6689c085ae165831e93';

let provider: FakeOpenAi;
let lnd: Awaited<ReturnType<typeof startFakeLnd>>;
let folder: string;
let daemon: RunningDaemon;
let key: string;

/** A host with a node on the main chain, where invoices can commit to requests. */
beforeAll(async () => {
  [provider, lnd] = await Promise.all([startFakeOpenAi(), startFakeLnd(new FakeNode('bitcoin'))]);
  folder = await mkdtemp(join(tmpdir(), 'gateway-lnbtc-'));
  const certificate = join(folder, 'tls.cert');
  await writeFile(certificate, localhostCertificate.cert);
  daemon = await startDaemon({
    config: `${paymentsConfig}payments: {usd_per_btc: "100000"}
wallet: {backend: lnd, network: bitcoin, url: "${lnd.url}", certificate_file: "${certificate}"}
upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [large], wire: responses, prices: {input: "1", output: "10"}}]
`,
    env: { FAKE_KEY: 'sk-fake', GATEWAY_WALLET_SECRET: lndMacaroon },
  });
  await openTill(daemon);
});

let people = 0;
/** A caller without credit, as what is left of a payment covers further calls. */
beforeEach(async () => {
  people += 1;
  const { login } = await addPerson(daemon, `payer-${people}`);
  const issued = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', {
    as: login,
    json: { scopes: ['responses'] },
  });
  key = issued.body.secret;
});

afterAll(async () => {
  const check = await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login });
  expect(check.body).toMatchObject({ ok: true, problems: [] });
  await daemon.stop();
  await Promise.all([provider.close(), lnd.close(), rm(folder, { recursive: true })]);
});

let inputs = 0;
/** A request that no other test makes, and that no balance covers. */
const request = () => {
  inputs += 1;
  return { model: 'fake/large', input: `Question ${inputs}`, max_output_tokens: 20_000, store: false };
};
const init = (body: object) => ({
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const responses = () => `${daemon.url}/v1/responses`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** The hash of a request, written out as the scheme `exact_lnbtc` defines it. */
const requestHash = (body: object, query = '') => {
  const [bodyHash, url] = [sha256(JSON.stringify(body)), responses() + query];
  return sha256(
    `{"bodyHash":"${bodyHash}","domain":"x402:exact:lnbtc:bolt11:http:1","headers":[],"method":"POST","url":"${url}"}`,
  );
};
/** Pays from outside, as another node does, which learns the preimage. */
const payInvoice = async ({ invoice }: { invoice: string }) => {
  lnd.node.receive(invoice);
  const { preimage = new Uint8Array() } = lnd.node.incoming.get(decodeInvoice(invoice).paymentHash) ?? {};
  return { preimage: Buffer.from(preimage).toString('hex') };
};
async function offered(body: object, query = '') {
  const { status, headers } = await callModel(daemon, { key, body, path: `/v1/responses${query}` });
  expect(status).toBe(402);
  const [claim, committed] = offersIn(headers).required.accepts;
  if (!claim || !committed) throw new Error('only one dialect is offered');
  return { claim, committed };
}

describe('on the main chain', () => {
  test('both Lightning dialects of x402 are offered for one invoice, which commits to the request', async () => {
    const body = request();
    const { claim, committed } = await offered(body);
    const { invoice } = claim.extra as { invoice: string };
    const decoded = decodeInvoice(invoice);
    expect(claim).toMatchObject({
      scheme: 'exact',
      network: `bip122:${mainChain}`,
      amount: String(decoded.amountMsat),
      asset: 'BTC',
      payTo: 'anonymous',
      extra: { paymentMethod: 'lightning' },
    });
    expect(committed).toEqual({
      scheme: 'exact',
      network: `lnbtc:${mainChain}`,
      amount: String(decoded.amountMsat),
      asset: 'BTC',
      payTo: decoded.payee,
      maxTimeoutSeconds: decoded.expirySeconds,
      extra: {
        assetTransferMethod: 'bolt11',
        paymentFlow: 'upfront',
        invoice,
        requestHash: requestHash(body),
        requestBindingProfile: 'http:1',
        requestBindingParams: { headers: [] },
      },
    });
    expect(decoded.descriptionHash).toBe(requestHash(body));
  });

  test('an @x402/fetch client proves the payment with the preimage, once', async () => {
    const body = request();
    const client = new x402Client().setSpendControls(false).register('lnbtc:*', {
      scheme: 'exact',
      async createPaymentPayload(x402Version, { extra, payTo }) {
        const { invoice } = extra as { invoice: string };
        const { descriptionHash, payee } = decodeInvoice(invoice);
        // What a careful client checks before it pays.
        expect({ descriptionHash, payee }).toEqual({ descriptionHash: requestHash(body), payee: payTo });
        return { x402Version, payload: await payInvoice({ invoice }) };
      },
    });
    const sent: Headers[] = [];
    const spying: typeof fetch = async (input, options) => {
      const attempt = new Request(input, options);
      sent.push(attempt.headers);
      return await fetch(attempt);
    };
    const before = provider.requests.length;
    const answer = await wrapFetchWithPayment(spying, client)(responses(), init(body));
    expect(answer.status).toBe(200);
    expect(provider.requests.length).toBe(before + 1);
    const settled = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(settled).toMatchObject({ success: true, network: `lnbtc:${mainChain}` });
    expect(settled).not.toHaveProperty('payer');
    expect(lnd.node.incoming.get(settled.transaction)?.state).toBe('paid');
    const proof = { 'payment-signature': sent.at(-1)?.get('payment-signature') ?? '' };
    const again = await callModel(daemon, { key, body, headers: proof });
    expect(again).toMatchObject({ status: 402, body: { error: { reason: 'already_used' } } });
    expect(provider.requests.length).toBe(before + 1);
  });

  test('fetch402 of @getalby/lightning-tools pays a call', async () => {
    const answer = await fetch402(responses(), init(request()), {
      wallet: { payInvoice },
      maxAmount: 1_000_000,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('payment-receipt')).not.toBeNull();
  });

  test('a preimage is refused for another request, and so is a wrong one', async () => {
    const body = request();
    const { committed } = await offered(body);
    const invoice = String(committed.extra?.invoice);
    const by = (preimage: string) => ({
      'payment-signature': formatX402({ x402Version: 2, accepted: committed, payload: { preimage } }),
    });
    const wrong = await callModel(daemon, { key, body, headers: by('ab'.repeat(32)) });
    expect(wrong.body.error.reason).toBe('invalid_preimage');
    const { preimage } = await payInvoice({ invoice });
    const other = await callModel(daemon, {
      key,
      body: { ...body, input: 'Another' },
      headers: by(preimage),
    });
    expect(other.body.error.reason).toBe('request_mismatch');
    expect((await callModel(daemon, { key, body, headers: by(preimage) })).status).toBe(200);
  });

  test('an invoice commits to the query, too', async () => {
    const body = request();
    const committedTo = async (query: string) => {
      const { committed } = await offered(body, query);
      expect(committed.extra?.requestHash).toBe(requestHash(body, query));
      expect(decodeInvoice(String(committed.extra?.invoice)).descriptionHash).toBe(requestHash(body, query));
      return committed;
    };
    await committedTo('');
    const accepted = await committedTo('?beta=true');
    const { preimage } = await payInvoice({ invoice: String(accepted.extra?.invoice) });
    const headers = {
      'payment-signature': formatX402({ x402Version: 2, accepted, payload: { preimage } }),
    };
    const without = await callModel(daemon, { key, body, headers });
    expect(without.body.error.reason).toBe('request_mismatch');
    const paid = await callModel(daemon, { key, body, headers, path: '/v1/responses?beta=true' });
    expect(paid.status).toBe(200);
  });
});
