import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { eventually } from '../support/eventually.ts';
import { noElectrum } from '../support/lightning/electrum-node.ts';
import { type LightningNodes, startLightningNodes } from '../support/lightning/lightning-nodes.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

describe.skipIf(noElectrum !== undefined)('a wallet over two real Lightning nodes', () => {
  let nodes: LightningNodes;
  let daemon: RunningDaemon;

  const start = async (home?: string) => {
    const { url, user, password } = nodes.alice;
    daemon = await startDaemon({
      ...(home !== undefined && { home }),
      config: [
        'vault: {keychain: false, insecure_plain_file: true}',
        `wallet: {backend: electrum, network: regtest, url: '${url}'}`,
        '',
      ].join('\n'),
      env: { GATEWAY_WALLET_SECRET: `${user}:${password}` },
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
    nodes = await startLightningNodes();
    await start();
    await api('POST', '/agents/me/wallet', {});
  });

  afterAll(async () => {
    await daemon?.stop();
    await nodes?.close();
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
});
