import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { LoginCaller } from '../../../../src/daemon/base/handler.ts';
import { encodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';
import type {
  LightningBackend,
  PaymentOutcome,
  PaymentRequest,
} from '../../../../src/daemon/features/lightning/index.ts';
import { createDataSealer } from '../../../../src/daemon/features/vault/index.ts';
import { Payments, WalletMarks } from '../../../../src/daemon/features/wallet/index.ts';
import { idMaker } from '../../../../src/shared/ids.ts';
import { addUsers } from '../../../storage/records.ts';
import { fakeWorld, startOfFakeTime } from '../../../support/fake-world.ts';
import { openTemporarily } from '../../storage/sqlite/temporary.ts';

const { open, cleanUp } = openTemporarily();
afterEach(cleanUp);

const preimage = new Uint8Array(32).fill(5);
const paymentHash = createHash('sha256').update(preimage).digest();
const caller: LoginCaller = {
  kind: 'login',
  loginId: 'acct_1',
  userId: 'usr_1',
  workspaceId: 'ws_1',
  revoked: new AbortController().signal,
};
const success: PaymentOutcome = { state: 'succeeded', preimage, feeMsat: 1500 };
const invoiceOf = (amountMsat = 100_000) =>
  encodeInvoice(
    {
      network: 'bitcoin',
      amountMsat,
      timestamp: Math.floor(startOfFakeTime / 1000),
      paymentHash,
      paymentSecret: new Uint8Array(32),
      description: 'Books',
      features: [8, 14],
    },
    new Uint8Array(32).fill(9),
  );

/** A wallet with a million sats, and a back end that answers as the test says. */
async function start(more: Pick<LightningBackend, 'mayForget'> = {}) {
  const storage = await open();
  await addUsers(storage);
  const store = storage.wallets;
  await storage.vault.addMaster({
    kid: 'master_1',
    store: 'file',
    proof: 'proof',
    wrapped: null,
    createdAt: startOfFakeTime,
  });
  const wallet = {
    id: 'wal_1',
    ownerId: 'usr_1',
    workspaceId: 'ws_1',
    nodeId: 'node',
    createdAt: startOfFakeTime,
    backend: 'node',
    network: 'bitcoin' as const,
  };
  const secret = { name: 'wallet|wal_1', version: 1, kid: 'master_1', wrappedKey: 'w', sealed: 's' };
  await store.create(wallet, secret, undefined);
  await store.deposit({ id: 'dep_1', walletId: 'wal_1', amount: 1_000_000, max: 1e9, at: startOfFakeTime });
  const world = fakeWorld();
  const asked: PaymentRequest[] = [];
  const answers = {
    pay: async (_request: PaymentRequest): Promise<PaymentOutcome> => success,
    lookUp: async (): Promise<PaymentOutcome> => ({ state: 'pending' }),
  };
  const backend: LightningBackend = {
    name: 'node',
    network: 'bitcoin',
    isConnected: true,
    ...more,
    nodeId: async () => null,
    check: async () => ({ nodeId: null, network: null, balanceMsat: null, problems: [] }),
    prepare: async () => {},
    createInvoice: async () => ({ invoice: '' }),
    pay: (request) => {
      asked.push(request);
      return answers.pay(request);
    },
    lookUpPayment: () => answers.lookUp(),
    lookUpInvoice: async () => undefined,
  };
  const announced: string[] = [];
  const warnings: string[] = [];
  /** As a daemon that starts now would have it. */
  const payments = () =>
    new Payments({
      store,
      world,
      backend: () => backend,
      wallets: { of: async () => wallet, required: async () => wallet },
      sealer: createDataSealer(new Uint8Array(32), world.randomBytes),
      marks: new WalletMarks(new Uint8Array(32), world.randomBytes),
      settings: { paymentHosts: [] },
      announce: ({ workspaceId }) => announced.push(workspaceId),
      makeId: idMaker(world.now, world.randomBytes),
      log: { warn: (_details: object, message: string) => void warnings.push(message) },
    });
  const balance = () => store.balance('wal_1');
  const problems = async () => (await storage.ledger.verify()).problems;
  return { payments, answers, asked, announced, balance, problems, store, warnings, world };
}

const never = new AbortController().signal;

describe('a payment over Lightning', () => {
  test('passes the fee limit to the back end, and charges the real fee', async () => {
    const { payments, asked, balance, announced, problems } = await start();
    const service = payments();
    const paid = await service.pay(caller, { invoice: invoiceOf() });
    expect(paid).toMatchObject({ state: 'succeeded', fee: 1500, feeLimit: 2000, backend: 'node' });
    expect(service.preimage(paid)).toBe(Buffer.from(preimage).toString('hex'));
    expect(paid.preimage).not.toContain(Buffer.from(preimage).toString('hex'));
    expect(asked).toEqual([
      expect.objectContaining({
        amountMsat: 100_000,
        maxFeeMsat: 2000,
        idempotencyKey: paid.id,
      }),
    ]);
    expect(await balance()).toEqual({ available: 898_500, pending: 0 });
    expect(announced).toEqual(['ws_1']);
    expect(await problems()).toEqual([]);
  });

  test('charges all that is reserved if the back end states a fee that cannot be read, and says so', async () => {
    const { payments, answers, balance, problems, warnings } = await start();
    answers.pay = async () => ({ ...success, feeMsat: null });
    const paid = await payments().pay(caller, { invoice: invoiceOf() });
    expect(paid).toMatchObject({ state: 'succeeded', fee: 2000, feeLimit: 2000 });
    expect(await balance()).toEqual({ available: 898_000, pending: 0 });
    expect(warnings).toEqual([expect.stringContaining('fee')]);
    expect(await problems()).toEqual([]);
  });

  test('reserves the fee limit: an amount that leaves nothing for fees is refused', async () => {
    const { payments, asked, balance } = await start();
    const paying = payments().pay(caller, { invoice: invoiceOf(1_000_000) });
    await expect(paying).rejects.toMatchObject({ code: 'insufficient_balance' });
    expect(asked).toEqual([]);
    expect(await balance()).toEqual({ available: 1_000_000, pending: 0 });
  });

  test('that times out stays pending and is debited once when it succeeds', async () => {
    const { payments, answers, asked, balance, problems, store, world } = await start();
    const late = Promise.withResolvers<PaymentOutcome>();
    answers.pay = () => late.promise;
    const service = payments();
    const paying = service.pay(caller, { invoice: invoiceOf(), timeoutMs: 1000 });
    while (asked.length === 0 || world.sleeping() === 0) await new Promise(setImmediate);
    await world.advance(1000);
    const pending = await paying;
    expect(pending.state).toBe('pending');
    expect(await balance()).toEqual({ available: 898_000, pending: 102_000 });
    // The back end still knows a failure of an earlier attempt; the running one is not judged by it.
    answers.lookUp = async () => ({ state: 'failed', reason: 'no_route' });
    await service.followUp(never);
    await expect(service.pay(caller, { invoice: invoiceOf() })).rejects.toMatchObject({ code: 'conflict' });
    expect((await store.payment(pending.id))?.state).toBe('pending');
    late.resolve(success);
    await service.close();
    expect((await store.payment(pending.id))?.state).toBe('succeeded');
    expect(await balance()).toEqual({ available: 898_500, pending: 0 });
    expect(await problems()).toEqual([]);
  });

  test.each([
    ['an exception', () => Promise.reject(new Error('connection reset'))],
    ['an unknown state', async () => ({ state: 'pending' }) as const],
    [
      'a success without its proof',
      async () => ({ ...success, preimage: new Uint8Array(32) }) as PaymentOutcome,
    ],
  ])('stays pending after %s, and is followed to its end after a restart', async (_what, answer) => {
    const { payments, answers, balance, store, announced, problems } = await start();
    answers.pay = answer;
    const before = payments();
    const { id, state } = await before.pay(caller, { invoice: invoiceOf() });
    expect(state).toBe('pending');
    await before.close();
    const restarted = payments();
    answers.lookUp = () => Promise.reject(new Error('not reachable'));
    await restarted.followUp(never);
    expect((await store.payment(id))?.state).toBe('pending');
    answers.lookUp = async () => success;
    await restarted.followUp(never);
    await restarted.followUp(never);
    expect(await store.payment(id)).toMatchObject({ state: 'succeeded', fee: 1500 });
    expect(await balance()).toEqual({ available: 898_500, pending: 0 });
    expect(announced).toEqual(['ws_1']);
    expect(await problems()).toEqual([]);
  });

  test('is not ended by the failure of an earlier attempt', async () => {
    const { payments, answers, store } = await start();
    answers.pay = () => Promise.reject(new Error('connection reset'));
    const service = payments();
    const { id } = await service.pay(caller, { invoice: invoiceOf() });
    const failedAt = async (startedAt: number) => {
      answers.lookUp = async () => ({ state: 'failed', reason: 'no_route', startedAt });
      await service.followUp(never);
      return (await store.payment(id))?.state;
    };
    expect(await failedAt(startOfFakeTime - 1000)).toBe('pending');
    expect(await failedAt(startOfFakeTime)).toBe('failed');
  });

  test('has no lock that expires before the payment does', async () => {
    const { payments, answers, asked, balance, problems, store, world } = await start();
    const late = Promise.withResolvers<PaymentOutcome>();
    answers.pay = () => late.promise;
    const service = payments();
    const paying = service.pay(caller, { invoice: invoiceOf(800_000), timeoutMs: 1000 });
    while (asked.length === 0 || world.sleeping() === 0) await new Promise(setImmediate);
    await world.advance(1000);
    const { id } = await paying;
    // Long after any lock or lease, the money is still reserved, also for a daemon that starts then.
    world.shiftWallClock(30 * 24 * 60 * 60 * 1000);
    const restarted = payments();
    for (const each of [service, restarted]) {
      await each.followUp(never);
      const again = each.pay(caller, { invoice: invoiceOf(800_000) });
      await expect(again).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(asked).toHaveLength(1);
    expect(await balance()).toEqual({ available: 192_000, pending: 808_000 });
    late.resolve(success);
    await service.close();
    expect(await store.payment(id)).toMatchObject({ state: 'succeeded', fee: 1500 });
    expect(await balance()).toEqual({ available: 198_500, pending: 0 });
    expect(await problems()).toEqual([]);
  });

  test('that failed returns its money, and can be tried again', async () => {
    const { payments, answers, balance, problems } = await start();
    answers.pay = async () => ({ state: 'failed', reason: 'no_route' });
    const service = payments();
    const failed = await service.pay(caller, { invoice: invoiceOf() });
    expect(failed).toMatchObject({ state: 'failed', failure: 'no_route', fee: null, preimage: null });
    expect(await balance()).toEqual({ available: 1_000_000, pending: 0 });
    answers.pay = async () => success;
    expect(await service.pay(caller, { invoice: invoiceOf() })).toMatchObject({ state: 'succeeded' });
    expect(await problems()).toEqual([]);
  });

  test('that was never sent fails once its invoice can no longer be paid', async () => {
    const { payments, answers, balance, store, world } = await start();
    answers.pay = () => Promise.reject(new Error('killed before it was sent'));
    const service = payments();
    const { id } = await service.pay(caller, { invoice: invoiceOf() });
    answers.lookUp = async () => ({ state: 'pending', isUnknown: true });
    world.shiftWallClock(60 * 60 * 1000);
    await service.followUp(never);
    expect((await store.payment(id))?.state).toBe('pending');
    world.shiftWallClock(60 * 60 * 1000);
    await service.followUp(never);
    expect(await store.payment(id)).toMatchObject({ state: 'failed', failure: 'expired' });
    expect(await balance()).toEqual({ available: 1_000_000, pending: 0 });
  });

  test('stays pending at a back end that may forget what it sent, until the owner of the host resolves it', async () => {
    const { payments, answers, balance, store, world, announced, problems } = await start({
      mayForget: true,
    });
    answers.pay = () => Promise.reject(new Error('connection reset'));
    const service = payments();
    const { id } = await service.pay(caller, { invoice: invoiceOf() });
    answers.lookUp = async () => ({ state: 'pending', isUnknown: true });
    world.shiftWallClock(30 * 24 * 60 * 60 * 1000);
    await service.followUp(never);
    expect((await store.payment(id))?.state).toBe('pending');
    expect(await balance()).toEqual({ available: 898_000, pending: 102_000 });

    const failed = { outcome: 'failed', userId: 'usr_1' } as const;
    await expect(service.resolve('pay_none', failed)).rejects.toMatchObject({ code: 'not_found' });
    expect(await service.resolve(id, failed)).toMatchObject({ state: 'failed', resolvedBy: 'usr_1' });
    expect(await balance()).toEqual({ available: 1_000_000, pending: 0 });
    expect(announced).toEqual(['ws_1']);
    await expect(service.resolve(id, failed)).rejects.toMatchObject({ code: 'conflict' });
    expect(await problems()).toEqual([]);
  });

  test.each([
    ['all that was reserved for fees', {}, 898_000],
    ['the fee that was paid', { fee: 500, preimage: Buffer.from(preimage).toString('hex') }, 899_500],
  ])('that is declared paid is charged with %s', async (_what, terms, available) => {
    const { payments, answers, balance, problems } = await start({ mayForget: true });
    answers.pay = () => Promise.reject(new Error('connection reset'));
    const service = payments();
    const { id } = await service.pay(caller, { invoice: invoiceOf() });
    const paid = { outcome: 'paid', userId: 'usr_1' } as const;
    const wrong = { ...paid, preimage: 'ab'.repeat(32) };
    await expect(service.resolve(id, wrong)).rejects.toMatchObject({ param: 'preimage' });
    await expect(service.resolve(id, { ...paid, fee: 2001 })).rejects.toMatchObject({ param: 'fee_msats' });
    const resolved = await service.resolve(id, { ...paid, ...terms });
    expect(resolved).toMatchObject({ state: 'succeeded', resolvedBy: 'usr_1' });
    expect(service.preimage(resolved)).toBe('preimage' in terms ? terms.preimage : null);
    expect(await balance()).toEqual({ available, pending: 0 });
    await expect(service.pay(caller, { invoice: invoiceOf() })).rejects.toMatchObject({ code: 'conflict' });
    expect(await problems()).toEqual([]);
  });

  test('is not resolved by hand while it is being sent', async () => {
    const { payments, answers, asked, world } = await start();
    const late = Promise.withResolvers<PaymentOutcome>();
    answers.pay = () => late.promise;
    const service = payments();
    const paying = service.pay(caller, { invoice: invoiceOf(), timeoutMs: 1000 });
    while (asked.length === 0 || world.sleeping() === 0) await new Promise(setImmediate);
    await world.advance(1000);
    const { id } = await paying;
    const resolving = service.resolve(id, { outcome: 'failed', userId: 'usr_1' });
    await expect(resolving).rejects.toMatchObject({ code: 'conflict' });
    late.resolve(success);
    await service.close();
  });

  test('is refused for invoices of another network', async () => {
    const { payments } = await start();
    const invoice = encodeInvoice(
      {
        network: 'testnet',
        amountMsat: 1000,
        timestamp: Math.floor(startOfFakeTime / 1000),
        paymentHash,
        paymentSecret: new Uint8Array(32),
        description: 'Books',
        features: [8, 14],
      },
      new Uint8Array(32).fill(9),
    );
    await expect(payments().pay(caller, { invoice })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'invoice',
      message: '`invoice` is for testnet, but the wallet is on bitcoin.',
    });
  });
});
