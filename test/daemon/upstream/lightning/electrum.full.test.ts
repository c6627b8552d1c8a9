import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { decodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';
import { electrum } from '../../../../src/daemon/upstream/lightning/electrum.ts';
import { createNetwork } from '../../../../src/daemon/upstream/network.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { noElectrum } from '../../../support/lightning/electrum-node.ts';
import { bodyOf, startFakeServer } from '../../../support/lightning/fake-server.ts';
import { type LightningNodes, startLightningNodes } from '../../../support/lightning/lightning-nodes.ts';
import { lightningBackendContract, requestFor } from './lightning-backend.contract.ts';

const never = new AbortController().signal;
const hash = 'ab'.repeat(32);

function connect(url: string, secret: string) {
  const network = createNetwork();
  onTestFinished(() => network.close());
  return electrum.create({
    url,
    network: 'regtest',
    send: network.send,
    secret: async () => secret,
    world: { ...fakeWorld(), sleep: (ms: number) => wait(ms) },
  });
}

describe.skipIf(noElectrum !== undefined)('Electrum, with real nodes', () => {
  let nodes: LightningNodes;
  beforeAll(async () => {
    nodes = await startLightningNodes();
  });
  afterAll(() => nodes?.close());

  const start = () => connect(nodes.alice.url, `${nodes.alice.user}:${nodes.alice.password}`);
  const payFromBob = async (invoice: string) => {
    const { success } = await nodes.bob.call('lnpay', { invoice });
    if (!success) throw new Error('the payment failed');
  };

  lightningBackendContract(
    async () => ({
      start,
      startOther: () => connect(nodes.bob.url, `${nodes.bob.user}:${nodes.bob.password}`),
      foreignInvoice: (msat: number) => nodes.invoiceOfBob(msat),
      payFromOutside: payFromBob,
    }),
    { isFake: false, keeps: ['mark of receipts', 'mark of payments'] },
  );

  test('says which node it is and what its channels hold', async () => {
    const nodeId = await nodes.alice.call('nodeid');
    const info = await start().check(never);
    expect(info).toMatchObject({ nodeId, network: 'regtest', problems: [] });
    expect(info.balanceMsat).toBeGreaterThan(1_000_000_000);
  });

  test('forgets a payment beyond its capacity, so that another attempt starts as unknown', async () => {
    const invoice = await nodes.invoiceOfBob(11_000_000_000);
    const { paymentHash } = decodeInvoice(invoice);
    expect(await start().pay(requestFor(invoice))).toEqual({ state: 'failed', reason: 'no_route' });
    expect(await start().lookUpPayment(paymentHash, never)).toEqual({ state: 'pending', isUnknown: true });
  });

  test('does not pay its own invoice, which others can still pay', async () => {
    const backend = start();
    const terms = { walletId: 'wal_1', amountMsat: 10_000, description: '', expirySeconds: 600 };
    const { invoice } = await backend.createInvoice(terms);
    expect(await backend.pay(requestFor(invoice))).toEqual({ state: 'failed', reason: 'no_route' });
    await payFromBob(invoice);
    await expect
      .poll(() => backend.lookUpInvoice(decodeInvoice(invoice).paymentHash, never))
      .toEqual({ receivedMsat: 10_000 });
  });

  test('does not take a payment for failed that is under way, also after a crash of Electrum', async () => {
    const invoice = await nodes.invoiceOfBob(20_000);
    const { paymentHash } = decodeInvoice(invoice);
    await nodes.bob.call('enable_htlc_settle', { b: false });
    const paying = start().pay(requestFor(invoice));
    const lost = { name: 'BackendFailure', kind: 'unreachable' };
    const loses = expect(paying).rejects.toMatchObject(lost);
    await expect
      .poll(async () => (await nodes.alice.call('list_channels'))[0].local_unsettled_sent)
      .toBeGreaterThan(0);
    expect(await start().lookUpPayment(paymentHash, never)).toEqual({ state: 'pending' });
    // The same invoice again is the same payment.
    expect(await start().pay(requestFor(invoice))).toEqual({ state: 'pending' });
    await nodes.alice.crashAndRestart();
    await loses;
    expect(await start().lookUpPayment(paymentHash, never)).toEqual({ state: 'pending' });
    await nodes.connected();
    expect(await start().lookUpPayment(paymentHash, never)).toEqual({ state: 'pending' });
    await nodes.bob.call('enable_htlc_settle', { b: true });
    await expect
      .poll(() => start().lookUpPayment(paymentHash, never))
      .toMatchObject({ state: 'succeeded', feeMsat: 0 });
  });

  test('rejects a wrong password', async () => {
    const backend = connect(nodes.alice.url, 'gateway:canary-of-a-wrong-password');
    await expect(backend.check(never)).rejects.toMatchObject({
      name: 'BackendFailure',
      kind: 'unauthorized',
      message: 'Electrum rejects the user or the password.',
    });
  });
});

interface Answers {
  // biome-ignore lint/suspicious/noExplicitAny: the answers and parameters of Electrum's commands.
  [command: string]: (params: any) => unknown;
}

/** A daemon that answers commands as the test says; a thrown error is the daemon's own. */
async function startFakeElectrum(answers: Answers) {
  const { url, close } = await startFakeServer(async (request, response) => {
    const { method, params } = JSON.parse(await bodyOf(request));
    const answer = async () => ({ result: answers[method]?.(params) ?? null });
    const body = await answer().catch(({ message }: Error) => ({ error: { code: 1, message } }));
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }));
  });
  onTestFinished(close);
  return connect(url, 'user:password');
}

const refuse = (message: string) => () => {
  throw new Error(message);
};

/** A payment that ended without success. */
const idle = { status: 5, amount_msat: 25_000 };
const openChannel = { type: 'CHANNEL', state: 'OPEN', peer_state: 'GOOD', local_unsettled_sent: 0 };
const sent = {
  payment_hash: hash,
  preimage: 'cd'.repeat(32),
  amount_msat: -25_700,
};

describe('Electrum, as documented', () => {
  test.each([
    ['user:pass word', undefined],
    ['user:password\n', 'user:password'],
    ['{"rpcuser": "user", "rpcpassword": "pa:ss", "rpcport": 7777}', 'user:pa:ss'],
    ['{"rpcport": 7777}', undefined],
    ['password', undefined],
    ['', undefined],
  ])('reads its user and password from %j', (given, read) => {
    expect(electrum.parseSecret(Buffer.from(given))).toBe(read);
  });

  test('since 4.6.2, passes the fee limit and issues invoices without an address', async () => {
    const asked: object[] = [];
    const backend = await startFakeElectrum({
      version: () => '4.7.0',
      get_request: refuse('Request not found'),
      get_invoice: refuse('Request not found'),
      lnpay: (params) => {
        asked.push(params);
        throw new Error('no');
      },
      add_request: (params) => {
        asked.push(params);
        return { lightning_invoice: 'LNBCRT1' };
      },
    });
    const request = { invoice: 'lnbcrt1', paymentHash: hash, amountMsat: 1, maxFeeMsat: 7, signal: never };
    await backend.pay({ ...request, idempotencyKey: 'pay_1' });
    await backend.createInvoice({
      walletId: 'wal_1',
      amountMsat: 25_000,
      description: 'Tea',
      expirySeconds: 60,
    });
    expect(asked).toEqual([
      { invoice: 'lnbcrt1', max_fee_msat: 7 },
      { amount: '0.00000025', memo: 'Tea', expiry: 60, lightning: true },
    ]);
  });

  test('before that, refuses to issue invoices with an address', async () => {
    const backend = await startFakeElectrum({ version: () => '4.3.4', getconfig: () => null });
    const terms = { walletId: 'wal_1', amountMsat: 25_000, description: '', expirySeconds: 60 };
    await expect(backend.createInvoice(terms)).rejects.toMatchObject({
      kind: 'not-ready',
      message: expect.stringContaining('electrum setconfig bolt11_fallback false'),
    });
  });

  test.each<[string, Answers, object]>([
    ['is unknown', { get_invoice: refuse('Request not found') }, { state: 'pending', isUnknown: true }],
    ['is being sent', { get_invoice: () => ({ ...idle, status: 4 }) }, { state: 'pending' }],
    ['has an undocumented state', { get_invoice: () => ({ ...idle, status: 99 }) }, { state: 'pending' }],
    [
      'may be in a channel',
      { get_invoice: () => idle, list_channels: () => [{ ...openChannel, local_unsettled_sent: 25 }] },
      { state: 'pending' },
    ],
    [
      'may be in a channel whose peer is away since a restart',
      {
        get_invoice: () => ({ ...idle, status: 0 }),
        list_channels: () => [{ ...openChannel, peer_state: 'DISCONNECTED' }],
      },
      { state: 'pending' },
    ],
    [
      'was settled in part only',
      {
        get_invoice: () => ({ ...idle, status: 4 }),
        lightning_history: () => [{ ...sent, amount_msat: -10_000 }],
      },
      { state: 'pending' },
    ],
    [
      'was settled, whatever the state of the invoice',
      { get_invoice: () => idle, lightning_history: () => [sent] },
      { state: 'succeeded', preimage: Buffer.from(sent.preimage, 'hex'), feeMsat: 700 },
    ],
    [
      'ended without success',
      { get_invoice: () => idle, list_channels: () => [openChannel] },
      { state: 'failed', reason: 'failed' },
    ],
  ])('a payment that %s', async (_what, answers, outcome) => {
    const deleted: unknown[] = [];
    const backend = await startFakeElectrum({
      list_channels: () => [],
      lightning_history: () => [],
      ...answers,
      delete_invoice: (params) => deleted.push(params),
    });
    expect(await backend.lookUpPayment(hash, never)).toEqual(outcome);
    // The next attempt must not be judged by this one.
    expect(deleted).toEqual('reason' in outcome ? [{ invoice_id: hash }] : []);
  });

  test('counts what was received only when all of it is settled', async () => {
    let received = 10_000;
    const backend = await startFakeElectrum({
      get_request: () => ({ status: 3, amount_msat: 25_000 }),
      lightning_history: () => [{ payment_hash: hash, amount_msat: received }],
    });
    expect(await backend.lookUpInvoice(hash, never)).toBeUndefined();
    received = 25_000;
    expect(await backend.lookUpInvoice(hash, never)).toEqual({ receivedMsat: 25_000 });
  });
});
