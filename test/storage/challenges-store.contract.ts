import { describe, expect, test } from 'vitest';
import type { Challenge } from '../../src/daemon/features/payment-required/store.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { addUsers, morning, type OpenStorage } from './records.ts';

const minuteMs = 60_000;
const request = { method: 'POST', path: '/v1/responses', digest: 'digest of a body' };

const aChallenge = (number: number, changes: Partial<Challenge> = {}): Challenge => ({
  id: `challenge ${number}`,
  workspaceId: 'ws_1',
  credentialId: 'key_1',
  request,
  invoiceId: `inv_${number}`,
  invoice: `lnbcrt${number}`,
  paymentHash: `hash ${number}`,
  network: 'regtest',
  commitment: null,
  amount: 2000,
  credit: 2_000_000,
  rate: { perBitcoin: 100_000_000_000_000, source: 'config', at: morning },
  createdAt: morning,
  expiresAt: morning + 10 * minuteMs,
  usedAt: null,
  ...changes,
});

export function challengesStoreContract(open: OpenStorage): void {
  /** Opens a store with challenges, whose invoices are not paid. */
  const openWith = async (...challenges: Challenge[]): Promise<Storage> => {
    const storage = await open();
    await addUsers(storage);
    const master = {
      kid: 'master_1',
      store: 'file',
      proof: 'proof',
      wrapped: null,
      createdAt: morning,
    };
    await storage.vault.addMaster(master as Parameters<Storage['vault']['addMaster']>[0]);
    for (const id of ['wal_1', 'wal_2']) {
      const wallet = { id, ownerId: `owner of ${id}`, workspaceId: 'ws_1', nodeId: `node of ${id}` };
      const secret = {
        name: `wallet|${id}`,
        version: 1,
        kid: 'master_1',
        wrappedKey: 'key',
        sealed: 'words',
      };
      await storage.wallets.create(
        { ...wallet, backend: 'embedded', network: 'regtest', createdAt: morning },
        secret,
        undefined,
      );
    }
    await storage.wallets.deposit({
      id: 'dep_1',
      walletId: 'wal_2',
      amount: 1_000_000,
      max: 1e9,
      at: morning,
    });
    for (const challenge of challenges) {
      const { invoiceId: id, invoice, paymentHash, amount, createdAt, expiresAt } = challenge;
      await storage.wallets.addInvoice({
        id,
        walletId: 'wal_1',
        paymentHash,
        invoice,
        amount,
        createdAt,
        expiresAt,
        description: 'A call',
        backend: 'embedded',
        preimage: 'sealed',
      });
      await storage.challenges.add(challenge);
    }
    return storage;
  };
  const pay = async ({ wallets }: Storage, { invoice, paymentHash, amount, expiresAt }: Challenge) => {
    const paid = await wallets.payInternally({
      id: `pay ${paymentHash}`,
      walletId: 'wal_2',
      paymentHash,
      invoice,
      amount,
      feeLimit: 0,
      payee: 'node of wal_1',
      description: null,
      host: null,
      backend: 'embedded',
      createdAt: morning + 1,
      expiresAt,
    });
    expect(paid).toMatchObject({ state: 'succeeded' });
  };
  const balance = ({ ledger }: Storage) => ledger.balance('ws_1');
  const expectSound = async ({ ledger }: Storage) => expect((await ledger.verify()).problems).toEqual([]);

  describe('a payment challenge', () => {
    test('is found by its id, payment hash and invoice, as it was added', async () => {
      const bound = aChallenge(1, {
        commitment: { requestHash: 'hash of a request', payee: 'node of wal_1' },
      });
      const bought = aChallenge(2, { request: null });
      const { challenges } = await openWith(bound, bought);
      expect(await challenges.find('challenge 1')).toEqual(bound);
      expect(await challenges.byPaymentHash('hash 2')).toEqual(bought);
      expect(await challenges.byInvoice('lnbcrt1')).toEqual(bound);
      expect(await challenges.find('challenge 3')).toBeUndefined();
    });

    test('is open for its caller and request until it is used or expires', async () => {
      const later = aChallenge(2, { expiresAt: morning + 20 * minuteMs });
      const storage = await openWith(aChallenge(1), later);
      const { challenges } = storage;
      const openAt = (at: number) => challenges.openFor('key_1', request, at);
      expect(await openAt(morning)).toEqual(later);
      expect(await openAt(later.expiresAt)).toBeUndefined();
      expect(await challenges.openFor('key_2', request, morning)).toBeUndefined();
      for (const other of [{ method: 'GET' }, { path: '/v1/embeddings' }, { digest: 'another' }]) {
        expect(await challenges.openFor('key_1', { ...request, ...other }, morning)).toBeUndefined();
      }
      await pay(storage, later);
      await challenges.redeem({ id: later.id, at: morning + 2 });
      expect(await openAt(morning)).toEqual(aChallenge(1));
    });

    test('becomes credit once, and only if it is paid', async () => {
      const challenge = aChallenge(1);
      const storage = await openWith(challenge);
      const redeem = (at: number) => storage.challenges.redeem({ id: challenge.id, at });
      expect(await redeem(morning + 1)).toBe('unpaid');
      expect(await balance(storage)).toBe(0);
      await pay(storage, challenge);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => redeem(morning + 2 + index)),
      );
      expect(outcomes.filter((outcome) => outcome === 'redeemed')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'used')).toHaveLength(19);
      expect(await balance(storage)).toBe(2_000_000);
      const [account] = await storage.ledger.accounts('ws_1');
      expect(account).toMatchObject({ balance: 2_000_000, granted: 0, bought: 2_000_000 });
      expect(await storage.challenges.find(challenge.id)).toMatchObject({ usedAt: morning + 2 });
      expect(await storage.challenges.redeem({ id: 'unknown', at: morning })).toBe('unpaid');
      await expectSound(storage);
    });

    test('is left alone if its credit would exceed the maximum balance', async () => {
      const challenge = aChallenge(1, { credit: 4_000_000_000_000_001 });
      const storage = await openWith(challenge);
      await pay(storage, challenge);
      expect(await storage.challenges.redeem({ id: challenge.id, at: morning + 2 })).toBe('too-much');
      expect(await balance(storage)).toBe(0);
      await expectSound(storage);
    });

    test('is to be redeemed when it was paid for later use, or not used in time', async () => {
      const [call, late, bought] = [
        aChallenge(1),
        aChallenge(2, { expiresAt: morning + minuteMs }),
        aChallenge(3, { request: null }),
      ] as const;
      const storage = await openWith(call, late, bought, aChallenge(4, { request: null }));
      for (const challenge of [call, late, bought]) await pay(storage, challenge);
      const idsAt = async (at: number) => (await storage.challenges.redeemable(at, 10)).map(({ id }) => id);
      expect(await idsAt(morning)).toEqual(['challenge 3']);
      expect(await idsAt(late.expiresAt)).toEqual(['challenge 2', 'challenge 3']);
      await storage.challenges.redeem({ id: bought.id, at: morning + 2 });
      expect(await idsAt(call.expiresAt)).toEqual(['challenge 2', 'challenge 1']);
    });

    test('is deleted with its invoice if it expired unpaid', async () => {
      const [paid, unpaid, open] = [
        aChallenge(1),
        aChallenge(2),
        aChallenge(3, { expiresAt: morning + 20 * minuteMs }),
      ] as const;
      const storage = await openWith(paid, unpaid, open);
      await pay(storage, paid);
      expect(await storage.challenges.removeExpired(morning + 11 * minuteMs, 10)).toBe(1);
      expect(await storage.challenges.find(unpaid.id)).toBeUndefined();
      expect(await storage.wallets.invoice(unpaid.invoiceId)).toBeUndefined();
      expect(await storage.challenges.find(paid.id)).toEqual(paid);
      expect(await storage.challenges.find(open.id)).toEqual(open);
      await expectSound(storage);
    });
  });
}
