import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch402 } from '@getalby/lightning-tools/402';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type Dialect, startFakeSeller } from '../support/fake-seller.ts';
import { noElectrum } from '../support/lightning/electrum-node.ts';
import { type LightningNodes, startLightningNodes } from '../support/lightning/lightning-nodes.ts';
import { byCredential, callModel, offersIn } from '../support/paid-calls.ts';
import { runCli } from '../support/run-cli.ts';
import { expectNoSecrets } from '../support/secret-search.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson, askDaemon } from '../support/users.ts';

describe.skipIf(noElectrum !== undefined)('a wallet over two real Lightning nodes', () => {
  let nodes: LightningNodes;
  let daemon: RunningDaemon;
  let provider: FakeOpenAi;

  const start = async (home?: string) => {
    const { url, user, password } = nodes.alice;
    daemon = await startDaemon({
      followUpMs: 500,
      ...(home !== undefined && { home }),
      config: [
        'vault: {keychain: false, insecure_plain_file: true}',
        'log: {level: trace}',
        'payments: {usd_per_btc: "100000"}',
        `wallet: {backend: electrum, network: regtest, url: '${url}'}`,
        `upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [large], wire: responses, prices: {input: "1", output: "10"}}]`,
        '',
      ].join('\n'),
      env: { FAKE_KEY: 'sk-fake', GATEWAY_WALLET_SECRET: `${user}:${password}` },
    });
  };
  const api = (method: string, path: string, json?: object) =>
    askDaemon(daemon, method, `/api${path}`, { as: daemon.login, ...(json && { json }) });
  const balance = async () => (await api('GET', '/agents/me/balance')).body.data;
  const pay = async (json: object) => {
    const { status, body } = await api('POST', '/payments/pay', json);
    return { status, payment: body.data?.payment, errors: body.errors, message: body.message };
  };
  const paymentEnds = (id: string) =>
    eventually('the payment ends', async () => {
      const { payment } = (await api('GET', `/payments/${id}`)).body.data;
      return payment.status !== 'pending' && payment;
    });
  const provenBy = (invoice: string, preimage: string) =>
    createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex') ===
    decodeInvoice(invoice).paymentHash;
  const expectSoundLedger = async () => {
    const { body } = await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login });
    expect(body).toMatchObject({ ok: true, problems: [] });
  };

  beforeAll(async () => {
    [nodes, provider] = await Promise.all([startLightningNodes(), startFakeOpenAi()]);
    await start();
    await api('POST', '/agents/me/wallet', {});
  });

  afterAll(async () => {
    await daemon?.stop();
    await Promise.all([nodes?.close(), provider?.close()]);
  });

  test('is credited once when the other node pays its invoice', async () => {
    const { invoice } = (await api('POST', '/payments/invoice', { amountSats: 500_000 })).body.data;
    expect(decodeInvoice(invoice.paymentRequest).payee).toBe(await nodes.alice.call('nodeid'));
    expect((await nodes.bob.call('lnpay', { invoice: invoice.paymentRequest })).success).toBe(true);
    const paid = await eventually('the invoice is paid', async () => {
      const found = (await api('GET', `/payments/invoices/${invoice.id}`)).body.data.invoice;
      return found.status === 'paid' && found;
    });
    expect(paid.receivedMsats).toBe(500_000_000);
    expect(await balance()).toMatchObject({ balanceSats: 500_000, backend: 'electrum', network: 'regtest' });
    // Once more, by a daemon that starts now.
    await daemon.stop({ keep: true });
    await start(daemon.home);
    expect(await balance()).toMatchObject({ balanceSats: 500_000 });
    await expectSoundLedger();
  });

  test('pays an invoice once, with the proof and the real fee', async () => {
    const before = (await balance()).balanceMsats;
    const invoice = await nodes.invoiceOfBob(10_000_000);
    const { payment } = await pay({ invoice });
    expect(payment).toMatchObject({ status: 'succeeded', feeMsats: 0, maxFeeMsats: 100_000 });
    expect(provenBy(invoice, payment.preimage)).toBe(true);
    const again = await pay({ invoice });
    expect(again).toMatchObject({
      status: 409,
      message: `This invoice is already paid: ${payment.paymentId}.`,
    });
    expect((await balance()).balanceMsats).toBe(before - 10_000_000);
    const [sent] = (await nodes.alice.call('lightning_history')).filter(
      ({ payment_hash }: { payment_hash?: string }) => payment_hash === payment.paymentHash,
    );
    expect(sent.amount_msat).toBe(-10_000_000);
    await expectSoundLedger();
  });

  test.each<Dialect>(['L402', 'Payment', 'x402'])(
    'buys by gateway fetch from a server that asks by %s',
    async (dialect) => {
      const seller = await startFakeSeller({ dialect, invoice: (msat) => nodes.invoiceOfBob(msat) });
      onTestFinished(() => seller.close());
      // Proofs are kept by the buyer, not in the folder of the daemon.
      const folder = await mkdtemp(join(tmpdir(), 'gateway-buyer-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const env = { GATEWAY_HOME: folder, GATEWAY_HOST: daemon.url, GATEWAY_KEY: daemon.login };
      const cli = (...argv: string[]) => runCli(['fetch', `${seller.url}/books`, ...argv], { env });
      const before = (await balance()).balanceMsats;
      const tooMuch = await cli('--max-sats', '9');
      expect(tooMuch).toMatchObject({ code: 5, stdout: '' });
      const bought = await cli('-d', 'beans', '--max-sats', '10');
      expect(bought).toMatchObject({ code: 0, stderr: expect.stringContaining('Paid: pay_') });
      expect(JSON.parse(bought.stdout)).toEqual({ method: 'POST', path: '/books', body: 'beans' });
      expect(before - (await balance()).balanceMsats).toBe(10_000);
      const hashes = seller.state.invoices.map((invoice) => decodeInvoice(invoice).paymentHash);
      const history = await nodes.bob.call('lightning_history');
      const received = history.filter(({ payment_hash }: { payment_hash?: string }) =>
        hashes.includes(payment_hash ?? ''),
      );
      expect(received).toEqual([expect.objectContaining({ amount_msat: 10_000 })]);
      // The node knows what it paid, whatever the file of the purchase says.
      const again = await cli('-d', 'beans', '--max-sats', '10');
      expect(again.code).toBe(0);
      expect(before - (await balance()).balanceMsats).toBe(dialect === 'L402' ? 10_000 : 20_000);
      await expectSoundLedger();
    },
  );

  test('gets everything back when the payment is beyond the capacity of the node', async () => {
    const before = await balance();
    // The node sends its own money to the other side, until less is left than the wallet has.
    const left =
      Math.floor((await nodes.alice.call('list_channels'))[0].local_balance / 1000) * 1000 - 450_000;
    expect(
      (await nodes.alice.call('lnpay', { invoice: await nodes.invoiceOfBob(left * 1000) })).success,
    ).toBe(true);
    const invoice = await nodes.invoiceOfBob(400_000_000);
    const { payment } = await pay({ invoice });
    expect(payment).toMatchObject({ status: 'failed', failureReason: 'no_route', feeMsats: null });
    expect(await balance()).toEqual(before);
    // What failed can be paid later.
    const money = (await nodes.alice.call('add_request', { amount: '0.05', force: true })).lightning_invoice;
    expect((await nodes.bob.call('lnpay', { invoice: money })).success).toBe(true);
    expect((await pay({ invoice })).payment).toMatchObject({ status: 'succeeded' });
    await expectSoundLedger();
  });

  test.each([
    ['keeps waiting after the timeout', false],
    ['is followed to its end by the next daemon', true],
  ])('a payment that the payee holds %s, and is debited once', async (_what, isRestarted) => {
    const before = (await balance()).balanceMsats;
    await nodes.bob.call('enable_htlc_settle', { b: false });
    const invoice = await nodes.invoiceOfBob(2_000_000);
    const { payment } = await pay({ invoice, timeoutMs: 1000 });
    expect(payment).toMatchObject({ status: 'pending', feeMsats: null, preimage: null });
    expect(await balance()).toMatchObject({ balanceMsats: before - 2_020_000, pendingMsats: 2_020_000 });
    expect(await pay({ invoice })).toMatchObject({ status: 409 });
    // A payment may time out before it has reached the node; one that the daemon has not sent when it stops is never sent.
    await expect
      .poll(async () => (await nodes.alice.call('list_channels'))[0].local_unsettled_sent)
      .toBeGreaterThan(0);
    if (isRestarted) {
      await daemon.stop({ keep: true });
      await start(daemon.home);
      expect(await balance()).toMatchObject({ pendingMsats: 2_020_000 });
    }
    await nodes.bob.call('enable_htlc_settle', { b: true });
    const ended = await paymentEnds(payment.paymentId);
    expect(ended).toMatchObject({ status: 'succeeded', feeMsats: 0 });
    expect(provenBy(invoice, ended.preimage)).toBe(true);
    expect(await balance()).toMatchObject({ balanceMsats: before - 2_000_000, pendingMsats: 0 });
    expect(await pay({ invoice })).toMatchObject({ status: 409 });
    await expectSoundLedger();
  });

  test('users of one Electrum cannot pay each other, and are told why before anything is recorded', async () => {
    const carol = await addPerson(daemon, 'carol');
    const asCarol = (path: string, json: object) =>
      askDaemon(daemon, 'POST', `/api${path}`, { as: carol.login, json });
    await asCarol('/agents/me/wallet', {});
    const { invoice } = (await asCarol('/payments/invoice', { amountSats: 10 })).body.data;
    const before = (await api('GET', '/payments')).body.data.length;
    const refused = await pay({ invoice: invoice.paymentRequest });
    expect(refused).toMatchObject({
      status: 422,
      errors: { invoice: [expect.stringContaining('cannot pay its own invoices')] },
    });
    expect((await api('GET', '/payments')).body.data).toHaveLength(before);
  });

  describe('a model call that costs money', () => {
    let people = 0;
    /** A caller without credit. */
    const newCaller = async () => {
      people += 1;
      const { login, workspace } = await addPerson(daemon, `caller-${people}`);
      const json = { scopes: ['responses'] };
      const issued = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', { as: login, json });
      return { key: issued.body.secret as string, workspace };
    };
    const body = { model: 'fake/large', input: 'Hi', max_output_tokens: 5000, store: false };
    const init = (key: string) => ({
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const responses = () => `${daemon.url}/v1/responses`;
    const payFromBob = async ({ invoice }: { invoice: string }): Promise<{ preimage: string }> => {
      const paid = await nodes.bob.call('lnpay', { invoice });
      if (!paid.success) throw new Error('the payment failed');
      return { preimage: paid.preimage };
    };
    const boughtBy = async (workspace: string) => {
      const { data } = (await askDaemon(daemon, 'GET', '/v1/admin/credit', { as: daemon.login })).body;
      return Number(data.find((each: { workspace: string }) => each.workspace === workspace).bought_usd);
    };

    test('is paid by the other node, proven by a Payment credential, and credited once', async () => {
      const { key, workspace } = await newCaller();
      const before = (await balance()).balanceMsats;
      const rejected = await callModel(daemon, { key, body });
      expect(rejected.status).toBe(402);
      const { invoice, amount_msats: amount, usd } = rejected.body.error.pay;
      const { challenge } = offersIn(rejected.headers);
      const { preimage } = await payFromBob({ invoice });
      const headers = byCredential(challenge, preimage);
      const retries = await Promise.all([1, 2, 3].map(() => callModel(daemon, { key, body, headers })));
      const accepted = retries.filter((retry) => retry.headers.has('payment-receipt'));
      expect(accepted.map(({ status }) => status)).toEqual([200]);
      expect(retries.map((retry) => retry.body.error?.reason).filter(Boolean)).toEqual([
        'already_used',
        'already_used',
      ]);
      expect((await balance()).balanceMsats).toBe(before + amount);
      expect(await boughtBy(workspace)).toBe(Number(usd));
      await expectSoundLedger();
    });

    test('is paid by fetch402 of @getalby/lightning-tools', async () => {
      const { key } = await newCaller();
      const answer = await fetch402(responses(), init(key), {
        wallet: { payInvoice: payFromBob },
        maxAmount: 1_000_000,
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('payment-receipt')).not.toBeNull();
    });

    test('is paid by an @x402/fetch client', async () => {
      const { key } = await newCaller();
      const client = new x402Client().setSpendControls(false).register('bip122:*', {
        scheme: 'exact',
        async createPaymentPayload(x402Version, { extra }) {
          const { invoice } = extra as { invoice: string };
          await payFromBob({ invoice });
          return { x402Version, payload: { invoice } };
        },
      });
      const answer = await wrapFetchWithPayment(fetch, client)(responses(), init(key));
      expect(answer.status).toBe(200);
      const settled = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
      expect(settled).toMatchObject({ success: true, payer: 'anonymous' });
      await expectSoundLedger();
    });
  });

  test('neither a password nor a preimage is in files or logs', async () => {
    const history = await nodes.alice.call('lightning_history');
    const preimages = history
      .map(({ preimage }: { preimage?: string }) => preimage)
      .filter(Boolean)
      .map((preimage: string) => Buffer.from(preimage, 'hex'));
    expect(preimages.length).toBeGreaterThan(5);
    const { user, password } = nodes.alice;
    await expectNoSecrets(daemon, '', [Buffer.from(`${user}:${password}`), ...preimages]);
  });
});
