import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  BookedPayment,
  BookedReceipt,
  MovesToBook,
  NewInvoice,
  NewPayment,
  WalletRecord,
} from '../../src/daemon/features/wallet/store.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { addUsers, morning, type OpenStorage } from './records.ts';

const hourMs = 3_600_000;
const depositMax = 1_000_000_000;

const book = { backend: 'embedded', network: 'regtest' } as const;
const aWallet = (id: string, changes: Partial<WalletRecord> = {}): WalletRecord => ({
  id,
  ownerId: `owner of ${id}`,
  workspaceId: 'ws_1',
  nodeId: `node of ${id}`,
  ...book,
  createdAt: morning,
  ...changes,
});
const aSecret = (walletId: string, kid = 'master_1') => ({
  name: `wallet|${walletId}`,
  version: 1,
  kid,
  wrappedKey: 'wrapped',
  sealed: 'sealed',
});
const anInvoice = (number: number, changes: Partial<NewInvoice> = {}): NewInvoice => ({
  id: `inv_${number}`,
  walletId: 'wal_2',
  paymentHash: `hash ${number}`,
  invoice: `lnbcrt${number}`,
  amount: 1000,
  description: 'Tea',
  backend: 'embedded',
  preimage: `sealed preimage ${number}`,
  createdAt: morning,
  expiresAt: morning + hourMs,
  ...changes,
});
/** The payment of `anInvoice` with the same number. */
const aPayment = (number: number, changes: Partial<NewPayment> = {}): NewPayment => ({
  id: `pay_${number}`,
  walletId: 'wal_1',
  paymentHash: `hash ${number}`,
  invoice: `lnbcrt${number}`,
  amount: 1000,
  feeLimit: 0,
  payee: 'node of wal_2',
  description: 'Tea',
  host: null,
  backend: 'embedded',
  createdAt: morning + 1,
  expiresAt: morning + hourMs,
  ...changes,
});
const settledAt = morning + 9;
/** The first page. */
const first = { after: undefined, limit: 10 };

export function walletStoreContract(open: OpenStorage): void {
  const openWithWallets = async (count = 2): Promise<Storage> => {
    const storage = await open();
    await addUsers(storage);
    const master = {
      kid: 'master_1',
      store: 'file',
      proof: 'proof',
      wrapped: null,
      createdAt: morning,
    } as const;
    await storage.vault.addMaster(master);
    await addWallets(
      storage,
      Array.from({ length: count }, (_, index) => `wal_${index + 1}`),
    );
    return storage;
  };
  const addWallets = async ({ wallets }: Storage, ids: readonly string[]) => {
    for (const id of ids)
      expect(await wallets.create(aWallet(id), aSecret(id), undefined)).toEqual(aWallet(id));
  };
  const fund = async ({ wallets }: Storage, amount: number, walletId = 'wal_1') =>
    expect(
      await wallets.deposit({ id: `dep_${walletId}`, walletId, amount, max: depositMax, at: morning }),
    ).toBe(true);
  const balances = async ({ wallets }: Storage, ...ids: string[]) =>
    await Promise.all(ids.map(async (id) => (await wallets.balance(id)).available));
  const expectSound = async ({ ledger }: Storage) => expect((await ledger.verify()).problems).toEqual([]);

  describe('a wallet', () => {
    test('is created once per owner, and only under the current master key', async () => {
      const { wallets } = await openWithWallets(1);
      const another = aWallet('wal_9', { ownerId: 'owner of wal_1' });
      expect(await wallets.create(another, aSecret('wal_9'), undefined)).toBe('stale');
      expect(await wallets.create(aWallet('wal_9'), aSecret('wal_9', 'master_0'), undefined)).toBe('stale');
      const copied = aWallet('wal_9', { nodeId: 'node of wal_1' });
      expect(await wallets.create(copied, aSecret('wal_9'), undefined)).toBe('other-owner');
      expect(await wallets.ofOwner('owner of wal_1', book)).toEqual(aWallet('wal_1'));
      expect(await wallets.ofOwner('owner of wal_9', book)).toBeUndefined();
      expect(await wallets.find('wal_9')).toBeUndefined();
    });

    test('is replaced only while it holds no money and awaits none', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      const next = aWallet('wal_9', { ownerId: 'owner of wal_1', createdAt: morning + 1 });
      await fund(storage, 1000);
      expect(await wallets.create(next, aSecret('wal_9'), 'wal_1')).toBe('in-use');
      await wallets.addInvoice(anInvoice(1));
      await wallets.payInternally(aPayment(1));
      await wallets.addInvoice(anInvoice(2, { walletId: 'wal_1' }));
      expect(await wallets.create(next, aSecret('wal_9'), 'wal_1')).toBe('in-use');
      const later = { ...next, createdAt: morning + hourMs };
      expect(await wallets.create(later, aSecret('wal_9'), 'wal_1')).toEqual(later);
      expect(await wallets.ofOwner('owner of wal_1', book)).toEqual(later);
      expect(await wallets.find('wal_1')).toEqual(aWallet('wal_1'));
    });

    test('is the same one when its owner imports its phrase again, and a new one for others', async () => {
      const { wallets } = await openWithWallets();
      const first = aWallet('wal_1');
      const later = { createdAt: morning + hourMs };
      const second = aWallet('wal_8', { ...later, ownerId: first.ownerId });
      expect(await wallets.create(second, aSecret('wal_8'), 'wal_1')).toEqual(second);
      const again = aWallet('wal_9', { ...later, ownerId: first.ownerId, nodeId: first.nodeId });
      expect(await wallets.create(again, aSecret('wal_9'), 'wal_8')).toEqual(first);
      expect(await wallets.ofOwner(first.ownerId, book)).toEqual(first);
      expect(await wallets.find('wal_9')).toBeUndefined();
      const taken = aWallet('wal_7', { ...later, ownerId: 'owner of wal_2', nodeId: first.nodeId });
      expect(await wallets.create(taken, aSecret('wal_7'), 'wal_2')).toBe('other-owner');
      // Its owner gave it up.
      expect(await wallets.create(second, aSecret('wal_8'), 'wal_1')).toEqual(second);
      expect(await wallets.create(taken, aSecret('wal_7'), 'wal_2')).toEqual(taken);
    });

    test('takes deposits up to a maximum', async () => {
      const storage = await openWithWallets(1);
      await fund(storage, 600);
      const deposit = { id: 'dep_2', walletId: 'wal_1', amount: 401, max: 1000, at: morning };
      expect(await storage.wallets.deposit(deposit)).toBe(false);
      expect(await storage.wallets.deposit({ ...deposit, amount: 400 })).toBe(true);
      expect(await storage.wallets.balance('wal_1')).toEqual({ available: 1000, pending: 0 });
      await expectSound(storage);
    });
  });

  describe('a payment within the host', () => {
    test('moves the amount, marks the invoice as paid and passes on the preimage', async () => {
      const storage = await openWithWallets();
      const { wallets, events } = storage;
      await fund(storage, 1500);
      await wallets.addInvoice(anInvoice(1));
      const paid = await wallets.payInternally(aPayment(1));
      const payment = {
        ...aPayment(1),
        state: 'succeeded',
        fee: 0,
        failure: null,
        preimage: 'sealed preimage 1',
        settledAt: morning + 1,
        budget: null,
        resolvedBy: null,
      };
      expect(paid).toEqual(payment);
      expect(await wallets.payment('pay_1')).toEqual(payment);
      const { preimage: _preimage, ...issued } = anInvoice(1);
      const invoice = { ...issued, state: 'paid', received: 1000, paidAt: morning + 1 };
      expect(await wallets.invoice('inv_1')).toEqual(invoice);
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([500, 1000]);
      expect((await events.after(['ws_1'], 0, 10)).map(({ type, data }) => ({ type, data }))).toEqual([
        { type: 'invoice.paid', data: { invoice: 'inv_1' } },
        { type: 'payment.settled', data: { payment: 'pay_1', status: 'succeeded' } },
      ]);
      await expectSound(storage);
    });

    test('is recorded at most once per invoice', async () => {
      const storage = await openWithWallets(3);
      const { wallets } = storage;
      await fund(storage, 5000);
      await fund(storage, 5000, 'wal_3');
      await wallets.addInvoice(anInvoice(1));
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          wallets.payInternally(aPayment(1, { id: `pay_${at}`, walletId: at % 2 ? 'wal_1' : 'wal_3' })),
        ),
      );
      const first = results.find((result) => 'state' in result);
      const refused = results.filter((result) => 'refused' in result);
      expect(refused).toHaveLength(19);
      const { id, walletId, state } = first as NonNullable<typeof first> &
        NewPayment & { state: 'succeeded' };
      expect(refused.at(-1)).toEqual({ refused: 'taken', payment: { id, walletId, state } });
      expect((await balances(storage, 'wal_1', 'wal_2', 'wal_3')).sort()).toEqual([1000, 4000, 5000].sort());
      await expectSound(storage);
    });

    test('needs the whole amount, of which parallel payments can spend each part once', async () => {
      const storage = await openWithWallets();
      await fund(storage, 1000);
      const numbers = Array.from({ length: 50 }, (_, at) => at);
      await Promise.all(numbers.map((at) => storage.wallets.addInvoice(anInvoice(at, { amount: 600 }))));
      const results = await Promise.all(
        numbers.map((at) => storage.wallets.payInternally(aPayment(at, { amount: 600 }))),
      );
      expect(results.filter((result) => 'state' in result)).toHaveLength(1);
      expect(
        results.filter((result) => 'refused' in result && result.refused === 'insufficient'),
      ).toHaveLength(49);
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([400, 600]);
      await expectSound(storage);
    });

    test('needs the same invoice, its amount and its expiry', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await fund(storage, 5000);
      await wallets.addInvoice(anInvoice(1));
      await wallets.addInvoice(anInvoice(2, { preimage: null }));
      const unknown = { refused: 'unknown-invoice' };
      expect(await wallets.payInternally(aPayment(1, { invoice: 'lnbcrt1forged' }))).toEqual(unknown);
      expect(await wallets.payInternally(aPayment(1, { amount: 1 }))).toEqual(unknown);
      expect(await wallets.payInternally(aPayment(2))).toEqual(unknown);
      expect(await wallets.payInternally(aPayment(3))).toEqual(unknown);
      const late = aPayment(1, { createdAt: morning + hourMs });
      expect(await wallets.payInternally(late)).toEqual({ refused: 'expired' });
      // Claims a later expiry than that of the stored invoice.
      const stretched = { ...late, expiresAt: morning + 2 * hourMs };
      expect(await wallets.payInternally(stretched)).toEqual({ refused: 'expired' });
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([5000, 0]);
    });

    test('to oneself leaves the balance as it is', async () => {
      const storage = await openWithWallets();
      await fund(storage, 1000);
      await storage.wallets.addInvoice(anInvoice(1, { walletId: 'wal_1' }));
      expect(await storage.wallets.payInternally(aPayment(1))).toMatchObject({ state: 'succeeded' });
      expect(await balances(storage, 'wal_1')).toEqual([1000]);
      await expectSound(storage);
    });
  });

  describe('a payment over Lightning', () => {
    const outgoing = (number: number, changes: Partial<NewPayment> = {}) =>
      aPayment(number, { feeLimit: 50, backend: 'node', ...changes });
    const success = { state: 'succeeded', preimage: 'sealed', at: settledAt } as const;
    const failure = { state: 'failed', failure: 'no_route', at: settledAt } as const;

    test('reserves amount and fee limit, and charges the real fee', async () => {
      const storage = await openWithWallets(1);
      const { wallets } = storage;
      await fund(storage, 2000);
      expect(await wallets.startPayment(outgoing(1))).toMatchObject({ state: 'pending', settledAt: null });
      expect(await wallets.balance('wal_1')).toEqual({ available: 950, pending: 1050 });
      expect(await wallets.startPayment(outgoing(2))).toEqual({ refused: 'insufficient', available: 950 });
      expect((await wallets.pendingPayments(first)).map(({ id }) => id)).toEqual(['pay_1']);
      await expectSound(storage);
      expect(await wallets.settlePayment({ id: 'pay_1', fee: 7, ...success })).toMatchObject({ fee: 7 });
      expect(await wallets.balance('wal_1')).toEqual({ available: 993, pending: 0 });
      expect(await wallets.pendingPayments(first)).toEqual([]);
      await expectSound(storage);
    });

    test('never charges more than the fee limit', async () => {
      const storage = await openWithWallets(1);
      await fund(storage, 1050);
      await storage.wallets.startPayment(outgoing(1));
      await storage.wallets.settlePayment({ id: 'pay_1', fee: 80, ...success });
      expect(await storage.wallets.balance('wal_1')).toEqual({ available: 0, pending: 0 });
      await expectSound(storage);
    });

    test('returns everything when it fails, and can be tried again then', async () => {
      const storage = await openWithWallets(1);
      const { wallets } = storage;
      await fund(storage, 1050);
      await wallets.startPayment(outgoing(1));
      const again = outgoing(1, { id: 'pay_2' });
      const taken = { id: 'pay_1', walletId: 'wal_1', state: 'pending' };
      expect(await wallets.startPayment(again)).toEqual({ refused: 'taken', payment: taken });
      expect(await wallets.settlePayment({ id: 'pay_1', ...failure })).toMatchObject({ failure: 'no_route' });
      expect(await wallets.balance('wal_1')).toEqual({ available: 1050, pending: 0 });
      expect(await wallets.startPayment(again)).toMatchObject({ id: 'pay_2', state: 'pending' });
      expect(await wallets.paymentByHash('hash 1')).toMatchObject({ id: 'pay_2' });
      await expectSound(storage);
    });

    test('lacks a proof only if its success was declared', async () => {
      const storage = await openWithWallets(1);
      const { wallets } = storage;
      await fund(storage, 1050);
      await wallets.startPayment(outgoing(1));
      const unproven = { id: 'pay_1', fee: 0, ...success, preimage: null };
      await expect(wallets.settlePayment(unproven)).rejects.toThrow();
      const declared = { ...unproven, resolvedBy: 'usr_1' };
      expect(await wallets.settlePayment(declared)).toMatchObject({ preimage: null, resolvedBy: 'usr_1' });
      await expectSound(storage);
    });

    test('counts against its budget with its fees, unless it failed', async () => {
      const storage = await openWithWallets(1);
      const { wallets } = storage;
      await fund(storage, 10_000);
      const budget = { name: 'tools', since: morning, max: 2100 };
      const limited = (number: number, changes: Partial<NewPayment> = {}) =>
        wallets.startPayment(outgoing(number, { budget, ...changes }));
      // Neither payments without a budget nor earlier ones count.
      await wallets.startPayment(outgoing(1));
      await limited(2, { createdAt: morning - 1 });
      expect(await limited(3)).toMatchObject({ state: 'pending', budget: 'tools' });
      expect(await limited(4)).toMatchObject({ state: 'pending' });
      expect(await limited(5)).toEqual({ refused: 'budget', left: 0 });
      await wallets.settlePayment({ id: 'pay_3', fee: 10, ...success });
      await wallets.settlePayment({ id: 'pay_4', ...failure });
      expect(await limited(6, { amount: 1041 })).toEqual({ refused: 'budget', left: 1090 });
      const both = await Promise.all([limited(6, { amount: 1040 }), limited(7, { amount: 1040 })]);
      expect(both).toMatchObject([{ state: 'pending' }, { refused: 'budget', left: 0 }]);
      expect(await limited(7, { budget: { ...budget, name: 'another' } })).toMatchObject({
        state: 'pending',
      });
    });

    test.each([
      ['the balance', 3000, 50_000],
      ['the budget', 50_000, 3000],
    ])('parallel payments together stay within %s', async (_limit, balance, max) => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await fund(storage, balance);
      const budget = { name: 'tools', since: morning, max };
      for (let number = 1; number <= 10; number += 1) await wallets.addInvoice(anInvoice(number));
      // To the other wallet of this host and over Lightning, in turns.
      const started = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0
            ? wallets.payInternally(aPayment(index / 2 + 1, { budget }))
            : wallets.startPayment(outgoing(100 + index, { budget, amount: 950 })),
        ),
      );
      expect(started.filter((outcome) => 'state' in outcome)).toHaveLength(3);
      const { available, pending } = await wallets.balance('wal_1');
      expect(available).toBe(balance - 3000);
      expect((await wallets.balance('wal_2')).available + pending).toBe(3000);
      await expectSound(storage);
    });

    test('is settled once', async () => {
      const storage = await openWithWallets(1);
      const { wallets } = storage;
      await fund(storage, 5000);
      await wallets.startPayment(outgoing(1));
      const results = await Promise.all([
        wallets.settlePayment({ id: 'pay_1', fee: 1, ...success }),
        wallets.settlePayment({ id: 'pay_1', ...failure }),
        wallets.settlePayment({ id: 'pay_1', fee: 1, ...success }),
      ]);
      expect(results.map((result) => result?.state)).toEqual(['succeeded', undefined, undefined]);
      expect(await balances(storage, 'wal_1')).toEqual([3999]);
      await expectSound(storage);
    });
  });

  describe('the node of a back end', () => {
    test('is trusted once, and replaced only by those who know the current one', async () => {
      const { wallets } = await openWithWallets();
      const book = { backend: 'lnd', network: 'bitcoin' } as const;
      const trust = (nodeId: string, replaces?: string) =>
        wallets.trustNode({ ...book, nodeId, replaces, at: morning });
      expect(await wallets.trustedNode(book)).toBeUndefined();
      expect(await trust('02aa')).toBe(true);
      expect(await trust('02bb')).toBe(false);
      expect(await wallets.trustedNode(book)).toBe('02aa');
      expect(await trust('02bb', '02aa')).toBe(true);
      expect(await wallets.trustedNode(book)).toBe('02bb');
      expect(await wallets.trustedNode({ ...book, network: 'testnet' })).toBeUndefined();
    });
  });

  describe('an invoice', () => {
    test('that is paid over Lightning is credited once', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await wallets.addInvoice(anInvoice(1, { backend: 'node', preimage: null }));
      const query = { backend: 'node', ...first };
      expect((await wallets.openInvoices(query)).map(({ id }) => id)).toEqual(['inv_1']);
      const receive = () => wallets.receive({ id: 'inv_1', received: 1100, at: settledAt });
      const results = await Promise.all([receive(), receive(), receive()]);
      expect(results.map((result) => result?.received)).toEqual([1100, undefined, undefined]);
      expect(await balances(storage, 'wal_2')).toEqual([1100]);
      expect(await wallets.openInvoices(query)).toEqual([]);
      await expectSound(storage);
    });

    test('is looked up until it lapses, and is credited even then', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await wallets.addInvoice(anInvoice(1, { backend: 'node', preimage: null }));
      await wallets.lapse({ id: 'inv_1', at: settledAt });
      expect(await wallets.openInvoices({ backend: 'node', ...first })).toEqual([]);
      expect(await wallets.receive({ id: 'inv_1', received: 1000, at: settledAt })).toMatchObject({
        state: 'paid',
      });
      await expectSound(storage);
    });

    test('that its back end cannot cancel is credited twice if it is paid twice', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await wallets.addInvoice(anInvoice(1, { backend: 'node', preimage: null }));
      const query = { backend: 'node', ...first };
      const lookedUp = async () => (await wallets.openInvoices(query)).map(({ id }) => id);
      await fund(storage, 1000);
      expect(await wallets.payInternally(aPayment(1))).toEqual({ refused: 'unknown-invoice' });
      const paid = await wallets.payInternally(aPayment(1), 'revealed and sealed');
      expect(paid).toMatchObject({ state: 'succeeded', fee: 0, preimage: 'revealed and sealed' });
      expect(await wallets.payInternally(aPayment(1, { id: 'pay_2' }), 'revealed and sealed')).toMatchObject({
        refused: 'taken',
      });
      expect(await lookedUp()).toEqual(['inv_1']);
      await expectSound(storage);
      const receive = () => wallets.receive({ id: 'inv_1', received: 1100, at: settledAt });
      const results = await Promise.all([receive(), receive(), receive()]);
      expect(results.map((result) => result?.received)).toEqual([2100, undefined, undefined]);
      expect(await balances(storage, 'wal_2')).toEqual([2100]);
      expect(await lookedUp()).toEqual([]);
      await expectSound(storage);
    });

    test('that was paid within the host is looked up until it lapses', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await fund(storage, 1000);
      await wallets.addInvoice(anInvoice(1, { backend: 'node', preimage: null }));
      expect(await wallets.payInternally(aPayment(1), 'revealed and sealed')).toMatchObject({ fee: 0 });
      await wallets.lapse({ id: 'inv_1', at: settledAt });
      expect(await wallets.openInvoices({ backend: 'node', ...first })).toEqual([]);
      await expectSound(storage);
    });

    test('of play money is not paid from a wallet with real money, nor the other way round', async () => {
      const storage = await openWithWallets(1);
      const { wallets } = storage;
      const real = aWallet('wal_2', { backend: 'lnd', network: 'bitcoin' });
      await wallets.create(real, aSecret('wal_2'), undefined);
      await fund(storage, 1000);
      await wallets.addInvoice(anInvoice(1));
      expect(await wallets.payInternally(aPayment(1))).toEqual({ refused: 'unknown-invoice' });
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([1000, 0]);
    });

    test('is funded from what the node holds and no wallet does', async () => {
      const storage = await openWithWallets(0);
      const { wallets } = storage;
      const book = { backend: 'lnd', network: 'bitcoin' } as const;
      for (const id of ['wal_1', 'wal_2']) await wallets.create(aWallet(id, book), aSecret(id), undefined);
      const deposit = { walletId: 'wal_1', amount: 700, held: 1000, at: morning };
      expect(await wallets.fund({ ...deposit, id: 'dep_1' })).toBe('funded');
      const more = { ...deposit, id: 'dep_2', walletId: 'wal_2' };
      expect(await wallets.fund(more)).toEqual({ unassigned: 300 });
      expect(await wallets.fund({ ...more, amount: 300 })).toBe('funded');
      expect(await wallets.owed(book)).toBe(1000);
      await expectSound(storage);
    });

    test('has a payment hash of its own', async () => {
      const { wallets } = await openWithWallets();
      await wallets.addInvoice(anInvoice(1));
      await expect(wallets.addInvoice(anInvoice(1, { id: 'inv_2' }))).rejects.toThrow();
    });

    test('is listed newest first, like payments, page by page', async () => {
      const storage = await openWithWallets();
      const { wallets } = storage;
      await fund(storage, 10_000);
      for (const number of [1, 2, 3]) {
        await wallets.addInvoice(anInvoice(number));
        await wallets.payInternally(aPayment(number));
      }
      const ids = (items: { id: string }[]) => items.map(({ id }) => id);
      expect(ids(await wallets.invoices('wal_2', { limit: 2, before: undefined }))).toEqual([
        'inv_3',
        'inv_2',
      ]);
      expect(ids(await wallets.invoices('wal_2', { limit: 2, before: 'inv_2' }))).toEqual(['inv_1']);
      expect(ids(await wallets.invoices('wal_1', { limit: 2, before: undefined }))).toEqual([]);
      expect(ids(await wallets.payments('wal_1', { limit: 2, before: undefined }))).toEqual([
        'pay_3',
        'pay_2',
      ]);
      expect(ids(await wallets.payments('wal_1', { limit: 2, before: 'pay_2' }))).toEqual(['pay_1']);
      expect(await wallets.invoiceByHash('hash 2')).toMatchObject({ id: 'inv_2' });
    });
  });

  describe('wallets of a node, after a backup was restored', () => {
    const nodeBook = { backend: 'node', network: 'regtest' } as const;
    const openedAt = morning + 1;
    const opening = { ...nodeBook, since: morning, at: openedAt };
    const openWithNode = async (...funds: number[]) => {
      const storage = await openWithWallets(0);
      for (const [index, amount] of funds.entries())
        await addWalletOfNode(storage, aWallet(`wal_${index + 1}`, nodeBook), amount);
      return storage;
    };
    const addWalletOfNode = async ({ wallets }: Storage, wallet: WalletRecord, amount: number) => {
      const { id } = wallet;
      await wallets.create(wallet, aSecret(id), undefined);
      const deposit = { id: `dep_${id}`, walletId: id, amount, held: Number.MAX_SAFE_INTEGER, at: morning };
      if (amount > 0) expect(await wallets.fund(deposit)).toBe('funded');
    };
    const aReceipt = (number: number, changes: Partial<BookedReceipt> = {}): BookedReceipt => ({
      ...anInvoice(number, { walletId: 'wal_1', backend: 'node', preimage: null }),
      received: 1000,
      ...changes,
    });
    const paid = (number: number, changes: Partial<BookedPayment> = {}): BookedPayment => ({
      id: `pay_${number}`,
      depositId: `dep_${number}`,
      walletId: 'wal_1',
      paymentHash: `paid ${number}`,
      invoice: `lnbcrt${number}`,
      amount: 1000,
      fee: 10,
      payee: 'node of others',
      description: null,
      backend: 'node',
      preimage: 'sealed',
      createdAt: morning,
      expiresAt: morning + hourMs,
      mayFallShort: true,
      ...changes,
    });
    const moves = (changes: Partial<MovesToBook>): MovesToBook => ({
      ...nodeBook,
      openedAt,
      held: null,
      receipts: [],
      payments: [],
      at: settledAt,
      ...changes,
    });

    test('pay nothing and are not funded until that has ended', async () => {
      const storage = await openWithNode(5000, 0);
      const { wallets } = storage;
      const outside = aPayment(1, { paymentHash: 'outside', backend: 'node', feeLimit: 10 });
      const invoice = anInvoice(2, { backend: 'node' });
      await wallets.addInvoice(invoice);
      await wallets.openReconciliation(opening);
      const fund = { id: 'dep_9', walletId: 'wal_1', amount: 1, held: 10_000, at: morning };
      const refused = { refused: 'unreconciled' };
      expect(await wallets.startPayment(outside)).toEqual(refused);
      expect(await wallets.payInternally(aPayment(2, { backend: 'node' }))).toEqual(refused);
      expect(await wallets.fund(fund)).toBe('unreconciled');
      // Money that arrives is credited.
      expect(await wallets.receive({ id: 'inv_2', received: 1000, at: settledAt })).toBeDefined();
      const end = { ...nodeBook, acceptedBy: null, at: settledAt };
      expect(await wallets.endReconciliation({ ...end, openedAt: openedAt + 1 })).toBe(false);
      expect(await wallets.endReconciliation({ ...end, openedAt })).toBe(true);
      expect(await wallets.endReconciliation({ ...end, openedAt })).toBe(false);
      expect(await wallets.startPayment(outside)).toMatchObject({ state: 'pending' });
      expect(await wallets.fund(fund)).toBe('funded');
      await expectSound(storage);
    });

    test('go back as far as the earliest backup that was not compared', async () => {
      const { wallets } = await openWithNode(0);
      await wallets.openReconciliation(opening);
      await wallets.openReconciliation({ ...opening, since: morning + 5, at: openedAt + 1 });
      expect(await wallets.reconciliation(nodeBook)).toMatchObject({
        since: morning,
        openedAt: openedAt + 1,
      });
      const end = { ...nodeBook, openedAt: openedAt + 1, acceptedBy: 'usr_1', at: settledAt };
      await wallets.endReconciliation(end);
      expect(await wallets.reconciliation(nodeBook)).toMatchObject({
        endedAt: settledAt,
        acceptedBy: 'usr_1',
      });
      await wallets.openReconciliation({ ...opening, since: morning + 5 });
      const reopened = { since: morning + 5, endedAt: null, acceptedBy: null };
      expect(await wallets.reconciliation(nodeBook)).toMatchObject(reopened);
    });

    test('get what was received and paid, once, also if the same is booked in parallel', async () => {
      const storage = await openWithNode(500, 0);
      const { wallets } = storage;
      await wallets.openReconciliation(opening);
      const found = moves({
        held: 10_000,
        receipts: [aReceipt(1, { received: 3000 }), aReceipt(2, { walletId: 'wal_2' })],
        payments: [paid(1)],
      });
      const again = { ...found, receipts: [aReceipt(1, { id: 'inv_9', received: 3000 })], payments: [] };
      const [states] = await Promise.all([found, found, again].map((each) => wallets.bookMoves(each)));
      expect(states).toEqual({ inv_1: 'booked', inv_2: 'booked', pay_1: 'booked' });
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([500 + 3000 - 1010, 1000]);
      expect(await wallets.paymentByHash('paid 1')).toMatchObject({
        state: 'succeeded',
        fee: 10,
        feeLimit: 10,
      });
      expect(await wallets.invoice('inv_1')).toMatchObject({ state: 'paid', received: 3000 });
      await expectSound(storage);
      await wallets.endReconciliation({ ...nodeBook, openedAt, acceptedBy: null, at: settledAt });
      expect(await wallets.bookMoves(moves({ held: 10_000, receipts: [aReceipt(5)] }))).toEqual({});
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([500 + 3000 - 1010, 1000]);
    });

    test('never hold more than the node because of a receipt', async () => {
      const storage = await openWithNode(500);
      const { wallets } = storage;
      await wallets.openReconciliation(opening);
      const found = { receipts: [aReceipt(1), aReceipt(2, { received: 200 })] };
      expect(await wallets.bookMoves(moves({ ...found, held: 1499 }))).toEqual({
        inv_1: 'held-back',
        inv_2: 'booked',
      });
      expect(await wallets.bookMoves(moves({ ...found, held: null }))).toEqual({ inv_1: 'held-back' });
      expect(await wallets.bookMoves(moves({ ...found, held: 1700 }))).toEqual({ inv_1: 'booked' });
      expect(await balances(storage, 'wal_1')).toEqual([1700]);
      await expectSound(storage);
    });

    test('that paid with money they were given after the backup get as much from the node', async () => {
      const storage = await openWithNode(500, 100);
      const { wallets } = storage;
      await wallets.openReconciliation(opening);
      const byHand = paid(2, { walletId: 'wal_2', mayFallShort: false });
      expect(await wallets.bookMoves(moves({ payments: [paid(1), byHand] }))).toEqual({
        pay_1: 'booked',
        pay_2: 'held-back',
      });
      expect(await balances(storage, 'wal_1', 'wal_2')).toEqual([0, 100]);
      await expectSound(storage);
    });

    test('whose receipt is held back get nothing from the node for what it may have paid', async () => {
      const storage = await openWithNode(0);
      const { wallets } = storage;
      await wallets.openReconciliation(opening);
      const found = { receipts: [aReceipt(1, { received: 5000 })], payments: [paid(1)] };
      expect(await wallets.bookMoves(moves({ ...found, held: 100 }))).toEqual({
        inv_1: 'held-back',
        pay_1: 'held-back',
      });
      expect(await wallets.bookMoves(moves({ ...found, held: 3990 }))).toEqual({
        inv_1: 'booked',
        pay_1: 'booked',
      });
      expect(await balances(storage, 'wal_1')).toEqual([3990]);
      await expectSound(storage);
    });

    test('are sound whatever the node did, in whatever portions it is booked', async () => {
      const wallet = fc.constantFrom('wal_1', 'wal_2', 'wal_3');
      const amount = fc.integer({ min: 1, max: 3000 });
      const move = fc.record({
        isReceipt: fc.boolean(),
        wallet,
        amount,
        fee: fc.nat(30),
        mayFallShort: fc.boolean(),
      });
      const scenario = fc.record({
        funds: fc.tuple(fc.nat(2000), fc.nat(2000), fc.nat(2000)),
        history: fc.array(move, { minLength: 1, maxLength: 25 }),
        helds: fc.array(fc.option(fc.nat(30_000)), { minLength: 1, maxLength: 4 }),
        // Portions overlap, and repeat what is known.
        portions: fc.array(fc.tuple(fc.nat(25), fc.nat(25)), { minLength: 1, maxLength: 4 }),
      });
      const storage = await openWithWallets(0);
      const { wallets } = storage;
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async ({ funds, history, helds, portions }) => {
          // Each run has a node, wallets and numbers of its own.
          runs += 1;
          const first = runs * 100;
          const backend = `node ${runs}`;
          const book = { ...nodeBook, backend };
          const ownId = (id: string) => `${id} of run ${runs}`;
          const ids = ['wal_1', 'wal_2', 'wal_3'].map(ownId);
          for (const [index, id] of ids.entries())
            await addWalletOfNode(storage, aWallet(id, book), funds[index] ?? 0);
          await wallets.openReconciliation({ ...opening, backend });
          const credited = new Map<string, number>();
          for (const [index, [from, to]] of [...portions, [0, history.length] as const].entries()) {
            const held = helds[index % helds.length] ?? null;
            const numbered = history.map((each, place) => ({ ...each, number: first + place }));
            const portion = numbered.slice(Math.min(from, to), Math.max(from, to));
            const receipts = portion
              .filter(({ isReceipt }) => isReceipt)
              .map(({ number, wallet, amount: received }) =>
                aReceipt(number, {
                  id: `inv_${index}_${number}`,
                  walletId: ownId(wallet),
                  received,
                  backend,
                }),
              );
            const payments = portion
              .filter(({ isReceipt }) => !isReceipt)
              .map(({ number, wallet, amount: cost, fee, mayFallShort }) =>
                paid(number, {
                  id: `pay_${index}_${number}`,
                  depositId: `dep_${index}_${number}`,
                  walletId: ownId(wallet),
                  backend,
                  amount: cost,
                  fee,
                  mayFallShort,
                }),
              );
            const before = await wallets.owed(book);
            const states = await wallets.bookMoves(moves({ ...book, held, receipts, payments }));
            const owed = await wallets.owed(book);
            // Receipts that were credited make the wallets hold no more than the node has.
            if (owed > before) expect(owed).toBeLessThanOrEqual(held ?? 0);
            for (const { id, paymentHash, received } of receipts) {
              if (states[id] !== 'booked') continue;
              expect(credited.has(paymentHash)).toBe(false);
              credited.set(paymentHash, received);
            }
            await expectSound(storage);
          }
          // With enough at the node, every receipt is credited, and every payment of a known wallet is booked.
          const all = history.map((each, place) => ({ ...each, number: first + place }));
          const rest = moves({
            ...book,
            held: Number.MAX_SAFE_INTEGER,
            receipts: all
              .filter(({ isReceipt }) => isReceipt)
              .map(({ number, wallet, amount: received }) =>
                aReceipt(number, { id: `inv_last_${number}`, walletId: ownId(wallet), received, backend }),
              ),
            payments: all
              .filter(({ isReceipt, mayFallShort }) => !isReceipt && mayFallShort)
              .map(({ number, wallet, amount: cost, fee }) =>
                paid(number, {
                  id: `pay_last_${number}`,
                  depositId: `dep_last_${number}`,
                  walletId: ownId(wallet),
                  backend,
                  amount: cost,
                  fee,
                }),
              ),
          });
          expect(Object.values(await wallets.bookMoves(rest))).not.toContain('held-back');
          await expectSound(storage);
          for (const balance of await balances(storage, ...ids)) expect(balance).toBeGreaterThanOrEqual(0);
        }),
        { numRuns: open.isSlow ? 8 : 25 },
      );
    });
  });

  test('the ledger stays sound after any wallet operations, of which some fail', async () => {
    const wallet = fc.constantFrom('wal_1', 'wal_2', 'wal_3');
    const number = fc.integer({ min: 0, max: 12 });
    const amount = fc.integer({ min: 1, max: 3000 });
    const step = fc.oneof(
      fc.record({ does: fc.constant('deposit' as const), wallet, amount }),
      fc.record({ does: fc.constant('invoice' as const), wallet, number, amount }),
      fc.record({ does: fc.constant('payInternally' as const), wallet, number, amount }),
      fc.record({ does: fc.constant('start' as const), wallet, number, amount, limit: fc.nat(40) }),
      fc.record({ does: fc.constant('settle' as const), number, fee: fc.option(fc.nat(60)) }),
      fc.record({ does: fc.constant('receive' as const), number, amount }),
    );
    const storage = await openWithWallets(0);
    const { wallets } = storage;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 150 }), async (drawn) => {
        // Each run has wallets, numbers and ids of its own.
        runs += 1;
        const ownId = (id: string) => `${id} of run ${runs}`;
        const ids = ['wal_1', 'wal_2', 'wal_3'].map(ownId);
        await addWallets(storage, ids);
        const steps = drawn.map((each) => ({
          ...each,
          ...('wallet' in each && { wallet: ownId(each.wallet) }),
          ...('number' in each && { number: runs * 100 + each.number }),
        }));
        const amounts = new Map<number, number>();
        const attempts = new Map<number, number>();
        const results = steps.map((each, at): Promise<unknown> => {
          switch (each.does) {
            case 'deposit':
              return wallets.deposit({
                id: ownId(`dep_${at}`),
                walletId: each.wallet,
                amount: each.amount,
                max: depositMax,
                at: morning,
              });
            case 'invoice':
              if (!amounts.has(each.number)) amounts.set(each.number, each.amount);
              return wallets.addInvoice(
                anInvoice(each.number, { walletId: each.wallet, amount: each.amount }),
              );
            case 'payInternally':
              return wallets.payInternally(
                aPayment(each.number, {
                  id: ownId(`pay_w${at}`),
                  walletId: each.wallet,
                  amount: amounts.get(each.number) ?? each.amount,
                }),
              );
            case 'start':
              attempts.set(each.number, at);
              return wallets.startPayment(
                aPayment(each.number, {
                  id: ownId(`pay_s${at}`),
                  walletId: each.wallet,
                  amount: each.amount,
                  feeLimit: each.limit,
                  paymentHash: `outside ${each.number}`,
                  backend: 'node',
                }),
              );
            case 'settle': {
              const id = ownId(`pay_s${attempts.get(each.number)}`);
              return wallets.settlePayment(
                each.fee === null
                  ? { id, state: 'failed', failure: 'no_route', at: settledAt }
                  : { id, state: 'succeeded', fee: each.fee, preimage: 'sealed', at: settledAt },
              );
            }
            default:
              return wallets.receive({ id: `inv_${each.number}`, received: each.amount, at: settledAt });
          }
        });
        await Promise.allSettled(results);
        await expectSound(storage);
        for (const balance of await balances(storage, ...ids)) expect(balance).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: open.isSlow ? 4 : 12 },
    );
  });
}
