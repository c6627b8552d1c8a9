import { describe, expect, test } from 'vitest';
import type { PaywallRecord, PaywallTerms } from '../../src/daemon/features/paywalls/store.ts';
import { addUsers, dayMs, morning, type OpenStorage } from './records.ts';

type NamelessTerms = Omit<PaywallTerms, 'name'>;

const aPaywall = (id: string, changes: Partial<NamelessTerms> = {}): NamelessTerms => ({
  id,
  ownerId: 'usr_1',
  owner: 1,
  status: 'active',
  host: null,
  pathPrefix: `/${id}`,
  methods: [],
  upstream: { url: 'http://127.0.0.1:9000', rewritePrefix: null, timeoutMs: 1000 },
  headers: null,
  mayBePrivate: true,
  priceSats: 10,
  authScheme: 'l402',
  token: { timeoutSeconds: 60, maxUses: 2, capabilities: ['read'], constraints: { region: 'eu' } },
  freePaths: ['/free'],
  freeRequestsPerDay: 0,
  rateLimit: { requests: 1, perSeconds: 2, burst: 3 },
  allowedOrigins: ['https://app.example'],
  createdAt: morning,
  updatedAt: morning,
  deletedAt: null,
  ...changes,
});
const aChallenge = (number: number, paywallId = 'pw_1') => ({
  id: `token ${number}`,
  paywallId,
  invoiceId: `inv_${number}`,
  paymentHash: `hash ${number}`,
  createdAt: morning,
  expiresAt: morning + 1000,
  paymentId: null,
  request: null,
  rights: null,
});

const someRights = { capabilities: ['read'], constraints: { tier: 'silver' } };
const aRequest = { method: 'POST', target: '/first?q=1', digest: 'a digest' };

export function paywallsStoreContract(open: OpenStorage): void {
  const openWithPaywall = async () => {
    const storage = await open();
    await addUsers(storage);
    const first = (await storage.paywalls.insert(aPaywall('pw_1'), ['first'])) as PaywallRecord;
    return { storage, paywalls: storage.paywalls, first };
  };
  const deleted = { status: 'deleted', deletedAt: morning + 1 } as const;

  describe('paywalls', () => {
    test('get the first free name, and the next revision', async () => {
      const { paywalls, first } = await openWithPaywall();
      expect(first).toEqual({
        ...aPaywall('pw_1'),
        name: 'first',
        revision: 1,
        challenges: 0,
        paid: 0,
        revenue: 0,
      });
      expect(await paywalls.insert(aPaywall('pw_2'), ['first'])).toBe('name-taken');
      expect(await paywalls.insert(aPaywall('pw_2'), ['first', 'second'])).toMatchObject({
        name: 'second',
        revision: 2,
      });
      const ofAnother = aPaywall('pw_3', { owner: 2, ownerId: 'usr_2' });
      expect(await paywalls.insert(ofAnother, ['first'])).toMatchObject({ name: 'first' });
      expect(await paywalls.serving()).toMatchObject({ revision: 3, paywalls: [{}, {}, {}] });
    });

    test('do not share a route: host, path and a method', async () => {
      const { paywalls } = await openWithPaywall();
      const insert = (id: string, changes: Partial<NamelessTerms>) =>
        paywalls.insert(aPaywall(id, { pathPrefix: '/route', ...changes }), [id.replace('_', '-')]);
      expect(await insert('pw_2', { methods: ['GET'] })).toMatchObject({ id: 'pw_2' });
      expect(await insert('pw_3', { methods: ['POST'] })).toMatchObject({ id: 'pw_3' });
      expect(await insert('pw_4', { methods: ['GET', 'PUT'] })).toBe('route-taken');
      expect(await insert('pw_4', {})).toBe('route-taken');
      expect(await insert('pw_4', { host: 'api.localhost' })).toMatchObject({ id: 'pw_4' });
      expect(await insert('pw_5', { host: 'api.localhost', owner: 2 })).toBe('route-taken');
    });

    test('are replaced unless they changed, and free name and route once deleted', async () => {
      const { paywalls, first } = await openWithPaywall();
      const changed = (await paywalls.replace(first, { ...first, priceSats: 20 })) as PaywallRecord;
      expect(changed).toMatchObject({ priceSats: 20, revision: 2 });
      expect(await paywalls.replace(first, { ...first, priceSats: 30 })).toBe('changed');
      expect(await paywalls.replace(changed, { ...changed, ...deleted })).toMatchObject({ revision: 3 });
      expect(await paywalls.replace({ ...changed, revision: 3 }, changed)).toBe('changed');
      expect(await paywalls.find(1, 'first')).toBeUndefined();
      expect(await paywalls.find(1, 'pw_1')).toMatchObject(deleted);
      expect(await paywalls.list(1, { limit: 5, before: undefined, status: undefined })).toEqual([]);
      expect(await paywalls.serving()).toEqual({ revision: 3, paywalls: [] });
      const again = await paywalls.insert(aPaywall('pw_2', { pathPrefix: '/pw_1' }), ['first']);
      expect(again).toMatchObject({ name: 'first', revision: 4 });
    });

    test('count challenges, and payments with the invoice', async () => {
      const { storage, paywalls, first } = await openWithPaywall();
      const master = {
        kid: 'master_1',
        store: 'file',
        proof: 'proof',
        wrapped: null,
        createdAt: morning,
      } as const;
      await storage.vault.addMaster(master);
      const wallet = {
        id: 'wal_1',
        ownerId: 'usr_1',
        workspaceId: 'ws_1',
        nodeId: 'node',
        backend: 'embedded',
        network: 'regtest',
        createdAt: morning,
      } as const;
      const secret = { name: 'wallet|wal_1', version: 1, kid: 'master_1', wrappedKey: 'w', sealed: 's' };
      await storage.wallets.create(wallet, secret, undefined);
      for (const number of [1, 2]) {
        await storage.wallets.addInvoice({
          id: `inv_${number}`,
          walletId: 'wal_1',
          paymentHash: `hash ${number}`,
          invoice: `lnbc${number}`,
          amount: 10_000,
          description: '',
          backend: 'embedded',
          preimage: null,
          createdAt: morning,
          expiresAt: morning + 1000,
        });
        const charged = { paymentId: `payment ${number}`, request: aRequest, rights: someRights };
        expect(await paywalls.addChallenge({ ...aChallenge(number), ...charged })).toBe(true);
      }
      expect(await paywalls.charge('payment 1')).toEqual({
        ...aChallenge(1),
        paymentId: 'payment 1',
        request: aRequest,
        rights: someRights,
        uses: 0,
        seenAt: null,
        invoice: 'lnbc1',
        amount: 10_000,
        invoiceExpiresAt: morning + 1000,
      });
      expect(await paywalls.charge('payment 3')).toBeUndefined();
      await storage.wallets.receive({ id: 'inv_1', received: 10_500, at: morning + 1 });
      await storage.wallets.receive({ id: 'inv_1', received: 10_500, at: morning + 2 });
      const counted = { challenges: 2, paid: 1, revenue: 10_500 };
      expect(await paywalls.find(1, 'pw_1')).toMatchObject({ ...counted, revision: 1 });
      // A change keeps them, although it was read before.
      expect(await paywalls.replace(first, { ...first, priceSats: 5 })).toMatchObject(counted);

      const prune = () => paywalls.prune({ expiredBefore: morning + dayMs, day: '2026-11-21', limit: 10 });
      expect([await prune(), await prune()]).toEqual([1, 0]);
      expect(await paywalls.challenge('token 1')).toBeDefined();
      expect(await paywalls.challenge('token 2')).toBeUndefined();
      expect(await storage.wallets.invoice('inv_1')).toBeDefined();
      expect(await storage.wallets.invoice('inv_2')).toBeUndefined();
    });

    test('that are deleted ask for no payments', async () => {
      const { paywalls, first } = await openWithPaywall();
      await paywalls.replace(first, { ...first, ...deleted });
      expect(await paywalls.addChallenge(aChallenge(1))).toBe(false);
      expect(await paywalls.challenge('token 1')).toBeUndefined();
    });

    test('keep the latest time at which a token was found to have expired', async () => {
      const { paywalls } = await openWithPaywall();
      await paywalls.addChallenge(aChallenge(1));
      for (const at of [morning + 2, morning + 5, morning + 3])
        await paywalls.noteTime({ id: 'token 1', at });
      expect(await paywalls.challenge('token 1')).toMatchObject({ seenAt: morning + 5 });
    });

    test('count uses of tokens and free requests up to their limits', async () => {
      const { paywalls } = await openWithPaywall();
      await paywalls.addChallenge(aChallenge(1));
      const use = () => paywalls.use({ id: 'token 1', maxUses: 2 });
      expect(await Promise.all([use(), use(), use()])).toEqual([true, true, false]);
      await paywalls.giveBack('token 1');
      expect([await use(), await use()]).toEqual([true, false]);
      expect(await paywalls.use({ id: 'token 9', maxUses: 2 })).toBe(false);

      await paywalls.addChallenge(aChallenge(2));
      const redeem = () => paywalls.redeemCharge('token 2');
      expect(await Promise.all([redeem(), redeem()])).toEqual([true, false]);
      expect(await paywalls.use({ id: 'token 2', maxUses: 1 })).toBe(false);
      await paywalls.giveBack('token 2');
      expect([await redeem(), await redeem()]).toEqual([true, false]);

      const free = { paywallId: 'pw_1', client: 'client', day: '2026-11-21', limit: 1 };
      expect(await paywalls.takeFree(free)).toBe(true);
      expect(await paywalls.takeFree(free)).toBe(false);
      expect(await paywalls.takeFree({ ...free, client: 'other' })).toBe(true);
      expect(await paywalls.takeFree({ ...free, day: '2026-11-22' })).toBe(true);
    });
  });
}
