import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { phoenixdPassword, startFakePhoenixd } from '../support/lightning/fake-phoenixd.ts';
import { expectNoSecrets } from '../support/secret-search.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson, askDaemon, type Person } from '../support/users.ts';

let phoenixd: Awaited<ReturnType<typeof startFakePhoenixd>>;
let daemon: RunningDaemon;
let bob: Person;

const api = (as: string, method: string, path: string, json?: object) =>
  askDaemon(daemon, method, path, { as, ...(json && { json }) });
const pay = (as: string, invoice: string) => api(as, 'POST', '/api/payments/pay', { invoice });
const invoiceOf = async (as: string, amountSats: number) =>
  (await api(as, 'POST', '/api/payments/invoice', { amountSats, description: 'Tea' })).body.data.invoice;
const balanceOf = async (as: string) => (await api(as, 'GET', '/api/agents/me/balance')).body.data;
const verified = async () => (await api(daemon.login, 'POST', '/v1/admin/ledger/verify')).body;

/** A node that cannot pay itself, and the wallets of two of its users: the owner's holds half a million sats. */
beforeAll(async () => {
  phoenixd = await startFakePhoenixd();
  daemon = await startDaemon({
    followUpMs: 100,
    config: `vault: {keychain: false, insecure_plain_file: true}
log: {level: trace}
payments: {usd_per_btc: "100000"}
wallet: {backend: phoenixd, network: regtest, url: "${phoenixd.url}"}
`,
    env: { GATEWAY_WALLET_SECRET: phoenixdPassword },
  });
  bob = await addPerson(daemon, 'bob');
  for (const { login } of [daemon, bob]) await api(login, 'POST', '/api/agents/me/wallet', {});
  const funded = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/fund', { amount_sats: 500_000 });
  expect(funded.status).toBe(200);
});

afterAll(async () => {
  expect(await verified()).toMatchObject({ ok: true, problems: [] });
  await daemon.stop();
  await phoenixd.close();
});

describe('users of one phoenixd', () => {
  test('pay each other within the host, without fees, and only the payer gets the proof', async () => {
    const before = (await balanceOf(daemon.login)).balanceSats;
    const invoice = await invoiceOf(bob.login, 300);
    const quote = await api(daemon.login, 'POST', '/api/payments/decode', {
      invoice: invoice.paymentRequest,
    });
    expect(quote.body.data).toMatchObject({ maxFeeMsats: 0, problem: null });
    const { payment } = (await pay(daemon.login, invoice.paymentRequest)).body.data;
    expect(payment).toMatchObject({ status: 'succeeded', feeMsats: 0, maxFeeMsats: 0 });
    const proof = createHash('sha256').update(Buffer.from(payment.preimage, 'hex')).digest('hex');
    expect(proof).toBe(invoice.paymentHash);
    expect(phoenixd.node.asked).not.toContain(invoice.paymentRequest);
    const seen = await api(bob.login, 'GET', `/api/payments/invoices/${invoice.id}`);
    expect(seen.body.data.invoice).toMatchObject({ status: 'paid', receivedMsats: 300_000 });
    expect(JSON.stringify(seen.body)).not.toContain(payment.preimage);
    expect((await balanceOf(daemon.login)).balanceSats).toBe(before - 300);
    expect((await pay(daemon.login, invoice.paymentRequest)).status).toBe(409);
    expect(await verified()).toMatchObject({ ok: true, problems: [] });
  });

  test('an invoice that was also paid from outside is credited for both payments', async () => {
    const before = (await balanceOf(bob.login)).balanceSats;
    const { id, paymentRequest } = await invoiceOf(bob.login, 100);
    expect((await pay(daemon.login, paymentRequest)).body.data.payment.status).toBe('succeeded');
    phoenixd.node.receive(paymentRequest);
    await eventually('the second payment is credited', async () => {
      const { invoice } = (await api(bob.login, 'GET', `/api/payments/invoices/${id}`)).body.data;
      return invoice.receivedMsats === 200_000;
    });
    expect((await balanceOf(bob.login)).balanceSats).toBe(before + 200);
    expect(await verified()).toMatchObject({ ok: true, problems: [] });
  });

  test('cannot pay an invoice that was paid from outside before', async () => {
    const before = (await balanceOf(bob.login)).balanceSats;
    const { paymentRequest } = await invoiceOf(bob.login, 50);
    phoenixd.node.receive(paymentRequest);
    const refused = await pay(daemon.login, paymentRequest);
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('already paid') },
    });
    await eventually('it is credited', async () => (await balanceOf(bob.login)).balanceSats === before + 50);
  });

  test('buy credit from the owner of the host, once per payment', async () => {
    const carol = await addPerson(daemon, 'carol');
    await api(carol.login, 'POST', '/api/agents/me/wallet', {});
    const money = await invoiceOf(carol.login, 1000);
    await pay(daemon.login, money.paymentRequest);
    const bought = await api(carol.login, 'POST', '/v1/credit/purchases', { sats: 500 });
    expect(bought.status, JSON.stringify(bought.body)).toBe(200);
    const paid = await pay(carol.login, bought.body.invoice);
    expect(paid.body.data.payment).toMatchObject({ status: 'succeeded', feeMsats: 0 });
    const accounts = (await api(daemon.login, 'GET', '/v1/admin/credit')).body.data;
    const own = accounts.find(({ workspace }: { workspace: string }) => workspace === carol.workspace);
    expect(own).toMatchObject({ bought_usd: '0.5', balance_usd: '0.5' });
  });

  test('are credited the whole invoice if the node does not say what it received, and the log says so', async () => {
    const before = (await balanceOf(bob.login)).balanceSats;
    const { id, paymentHash, paymentRequest } = await invoiceOf(bob.login, 70);
    const issued = phoenixd.node.incoming.get(paymentHash);
    // All of it became fee credit.
    if (issued) issued.amountMsat = 0;
    phoenixd.node.receive(paymentRequest);
    await eventually('it is credited', async () => {
      const { invoice } = (await api(bob.login, 'GET', `/api/payments/invoices/${id}`)).body.data;
      return invoice.receivedMsats === 70_000;
    });
    expect((await balanceOf(bob.login)).balanceSats).toBe(before + 70);
    expect(daemon.printed().stderr).toContain('the back end does not say what it received');
  });

  test('are told of payments of the node whose amount cannot be read', async () => {
    const invoice = phoenixd.node.foreignInvoice(10_000);
    const { payment } = phoenixd.node.pay(invoice);
    Object.assign(payment, { invoice: '', amountMsat: Number.NaN });
    const since = new Date(Date.now() - 60_000).toISOString();
    const found = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/reconcile', { since });
    expect(found.body.problems, JSON.stringify(found.body)).toEqual([
      `The node lists a payment ${payment.paymentHash} whose amount cannot be read.`,
    ]);
    expect(found.body.state).not.toBe('reconciled');
    phoenixd.node.outgoing.delete(payment.paymentHash);
    const again = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/reconcile', {});
    expect(again.body.problems, JSON.stringify(again.body)).toEqual([]);
  });

  test('leave no preimage that the node revealed in files or logs', async () => {
    const preimages = [...phoenixd.node.incoming.values()].map(({ preimage }) => preimage);
    expect(preimages.length).toBeGreaterThan(4);
    await expectNoSecrets(daemon, '', [Buffer.from(phoenixdPassword), ...preimages]);
  });
});
