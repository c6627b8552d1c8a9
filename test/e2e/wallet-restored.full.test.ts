import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { restore } from '../../src/daemon/process/restore.ts';
import { eventually } from '../support/eventually.ts';
import { noElectrum } from '../support/lightning/electrum-node.ts';
import { lndMacaroon, startFakeLnd } from '../support/lightning/fake-lnd.ts';
import type { FakeNode } from '../support/lightning/fake-node.ts';
import { startFakeNwc } from '../support/lightning/fake-nwc.ts';
import { phoenixdPassword, startFakePhoenixd } from '../support/lightning/fake-phoenixd.ts';
import { type LightningNodes, startLightningNodes } from '../support/lightning/lightning-nodes.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { localhostCertificate } from '../support/test-certificate.ts';
import { addPerson, askDaemon, type Person } from '../support/users.ts';

/** A node, and the other side that pays it and is paid. */
interface Side {
  /** The settings of `wallet`. */
  settings: string;
  secret: string;
  foreignInvoice(amountMsat: number): Promise<string>;
  payFromOutside(invoice: string): Promise<void>;
  /** Pays an invoice with the node itself, past the wallets. */
  payByHand(invoice: string): Promise<void>;
  close(): Promise<void>;
}

function sideOf(node: FakeNode, rest: Pick<Side, 'settings' | 'secret' | 'close'>): Side {
  return {
    ...rest,
    foreignInvoice: async (amountMsat) => node.foreignInvoice(amountMsat),
    payFromOutside: async (invoice) => node.receive(invoice),
    payByHand: async (invoice) => void node.pay(invoice),
  };
}

const sides: Record<string, () => Promise<Side>> = {
  async lnd() {
    const { node, url, close } = await startFakeLnd();
    const settings = `{backend: lnd, network: regtest, url: '${url}', certificate_file: lnd.cert}`;
    return sideOf(node, { settings, secret: lndMacaroon, close });
  },
  async phoenixd() {
    const { node, url, close } = await startFakePhoenixd();
    const settings = `{backend: phoenixd, network: regtest, url: '${url}'}`;
    return sideOf(node, { settings, secret: phoenixdPassword, close });
  },
  async nwc() {
    const { node, secret, close } = await startFakeNwc();
    return sideOf(node, { settings: '{backend: nwc, network: regtest}', secret, close });
  },
  async electrum() {
    const nodes: LightningNodes = await startLightningNodes();
    const { url, user, password } = nodes.alice;
    const send = async (from: 'alice' | 'bob', invoice: string) => {
      const { success } = await nodes[from].call('lnpay', { invoice });
      if (!success) throw new Error('the payment failed');
    };
    return {
      settings: `{backend: electrum, network: regtest, url: '${url}'}`,
      secret: `${user}:${password}`,
      foreignInvoice: (amountMsat) => nodes.invoiceOfBob(amountMsat),
      payFromOutside: (invoice) => send('bob', invoice),
      payByHand: (invoice) => send('alice', invoice),
      close: () => nodes.close(),
    };
  },
};

/** Whether a node says whose payments and receipts are. */
const tells: Record<string, { payments: boolean; receipts: boolean }> = {
  lnd: { payments: false, receipts: true },
  phoenixd: { payments: false, receipts: true },
  nwc: { payments: false, receipts: false },
  electrum: { payments: true, receipts: true },
};

describe.each(Object.keys(sides).filter((name) => name !== 'electrum' || noElectrum === undefined))(
  'wallets of %s, after a backup was restored',
  (name) => {
    let side: Side;
    let daemon: RunningDaemon;
    let bob: Person;
    let folder: string;

    const config = () => `vault: {keychain: false, insecure_plain_file: true}\nwallet: ${side.settings}\n`;
    const start = async (home?: string) => {
      daemon = await startDaemon({
        followUpMs: 50,
        config: config(),
        env: { GATEWAY_WALLET_SECRET: side.secret },
        ...(home !== undefined && { home }),
      });
      await writeFile(join(daemon.home, 'lnd.cert'), localhostCertificate.cert);
    };
    const api = (as: string, method: string, path: string, json?: object) =>
      askDaemon(daemon, method, path, { as, ...(json && { json }) });
    const cli = (...args: string[]) => runCli(args, { env: { GATEWAY_HOME: daemon.home }, restore });
    const balanceOf = async (as: string) =>
      (await api(as, 'GET', '/api/agents/me/balance')).body.data.balanceMsats as number;
    const invoiceOf = async (as: string, amountSats: number) =>
      (await api(as, 'POST', '/api/payments/invoice', { amountSats })).body.data.invoice;
    const pay = (as: string, invoice: string) => api(as, 'POST', '/api/payments/pay', { invoice });
    const paid = async (as: string, amountMsat: number) => {
      const invoice = await side.foreignInvoice(amountMsat);
      const { payment } = (await pay(as, invoice)).body.data;
      expect(payment.status).toBe('succeeded');
      return { invoice, hash: payment.paymentHash as string, cost: amountMsat + payment.feeMsats };
    };
    const received = async (as: string, amountSats: number) => {
      const { id, paymentRequest } = await invoiceOf(as, amountSats);
      await side.payFromOutside(paymentRequest);
      await eventually('the receipt is credited', async () => {
        const { body } = await api(as, 'GET', `/api/payments/invoices/${id}`);
        return body.data.invoice.status === 'paid';
      });
    };
    const reconcile = async (json: object = {}) => {
      const answer = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/reconcile', json);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    const expectSound = async () =>
      expect((await api(daemon.login, 'POST', '/v1/admin/ledger/verify')).body).toMatchObject({
        ok: true,
        problems: [],
      });
    const restoreTo = async (backup: string) => {
      await daemon.stop({ keep: true });
      const restored = await cli('restore', backup, '--yes');
      expect(restored, restored.stderr).toMatchObject({ code: 0 });
      expect(restored.stderr).toContain('Wallets of a Lightning node pay nothing');
      await start(daemon.home);
    };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gateway-wallet-backups-'));
      side = await (sides[name] as () => Promise<Side>)();
      await start();
      bob = await addPerson(daemon, 'bob');
      for (const login of [daemon.login, bob.login]) await api(login, 'POST', '/api/agents/me/wallet', {});
      await api(daemon.login, 'POST', '/v1/admin/wallet-backend/fund', { amount_sats: 100_000 });
    });

    afterAll(async () => {
      await daemon?.stop();
      await side?.close();
      await rm(folder, { recursive: true, force: true });
    });

    test('pay nothing until the node has explained what it received and paid since', async () => {
      await received(bob.login, 5000);
      const known = await invoiceOf(bob.login, 700);
      const backup = join(folder, 'first.db');
      expect(await cli('backup', backup)).toMatchObject({ code: 0 });
      const before = { owner: await balanceOf(daemon.login), bob: await balanceOf(bob.login) };

      await side.payFromOutside(known.paymentRequest);
      await received(bob.login, 2000);
      const bobs = await paid(bob.login, 1_000_000);
      const owners = await paid(daemon.login, 3_000_000);
      await eventually('both receipts are credited', async () => {
        return (await balanceOf(bob.login)) === before.bob + 2_700_000 - bobs.cost;
      });
      const owner = await balanceOf(daemon.login);
      expect(owner).toBe(before.owner - owners.cost);

      await restoreTo(backup);
      if (!tells[name]?.payments) {
        const refused = await pay(bob.login, bobs.invoice);
        expect(refused).toMatchObject({ status: 503 });
        expect(refused.body.message).toContain('gateway wallet reconcile');
        const { problem } = (await api(bob.login, 'GET', '/api/agents/me/balance')).body.data;
        expect(problem).toContain('restored a backup');
        await eventually('doctor and status name it', async () => {
          const { state, problems } = (await api(daemon.login, 'GET', '/v1/admin/wallet-backend')).body;
          return state === 'limited' && problems[0].includes('gateway wallet reconcile');
        });
        const shown = await cli('wallet', 'reconcile');
        expect(shown.code).toBe(6);
        expect(shown.stdout).toMatch(/^state\topen\n/);
        expect(shown.stderr).toContain(bobs.hash);
        const open = await reconcile();
        const payments = open.unexplained.filter(({ kind }: { kind: string }) => kind === 'payment');
        const hashes: string[] = payments.map(({ payment_hash }: { payment_hash: string }) => payment_hash);
        // Some say the time only in seconds.
        expect(hashes.toSorted()).toEqual([bobs.hash, owners.hash].toSorted());
        // Money that arrives is credited meanwhile.
        await received(bob.login, 40);
        const ids = await Promise.all(
          [daemon.login, bob.login].map(
            async (as) => (await api(as, 'GET', '/api/agents/me/balance')).body.data.walletId as string,
          ),
        );
        const receipts = open.unexplained.filter(({ kind }: { kind: string }) => kind === 'receipt');
        expect(receipts).toHaveLength(tells[name]?.receipts ? 0 : 1);
        const assign = [
          ...receipts.map(({ payment_hash }: { payment_hash: string }) => ({ payment_hash, wallet: ids[1] })),
          { payment_hash: bobs.hash, wallet: ids[1] },
          { payment_hash: owners.hash, wallet: ids[0] },
        ];
        const wrong = { assign: [{ payment_hash: 'ab'.repeat(32), wallet: ids[0] }] };
        const answer = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/reconcile', wrong);
        expect(answer.status).toBe(400);
        const done = await reconcile({ assign });
        expect(done).toMatchObject({ booked: { payments: 2, receipts: receipts.length }, unexplained: [] });
        // A wallet that may not list everything proves nothing by what it lists.
        if (name === 'nwc') {
          expect(done.state).toBe('open');
          expect(await reconcile({ accept: true })).toMatchObject({ state: 'ended' });
        } else expect(done).toMatchObject({ state: 'ended', accepted_by: null });
        expect(await balanceOf(bob.login)).toBe(before.bob + 2_740_000 - bobs.cost);
      } else {
        await eventually('the wallets are reconciled', async () => (await reconcile()).state === 'ended');
        expect(await balanceOf(bob.login)).toBe(before.bob + 2_700_000 - bobs.cost);
      }
      expect(await balanceOf(daemon.login)).toBe(owner);
      await expectSound();
      // What was paid is not paid again.
      const again = await pay(bob.login, bobs.invoice);
      expect(again.status).toBe(409);
      const listed = (await api(bob.login, 'GET', '/api/payments')).body.data;
      expect(listed[0]).toMatchObject({
        paymentHash: bobs.hash,
        status: 'succeeded',
        paymentRequest: bobs.invoice,
      });
      expect(listed[0].preimage).toMatch(/^[0-9a-f]{64}$/);
      await paid(bob.login, 50_000);
      const { status } = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/reconcile', {
        accept: true,
      });
      expect(status).toBe(409);
    });

    test('leave to the node what it paid by hand, once its owner accepts that', async () => {
      const backup = join(folder, 'second.db');
      await cli('backup', backup);
      await side.payByHand(await side.foreignInvoice(9_000_000));
      const balances = [await balanceOf(daemon.login), await balanceOf(bob.login)];
      await restoreTo(backup);
      await eventually('the payment is found', async () => (await reconcile()).unexplained.length === 1);
      const accepted = await cli('wallet', 'reconcile', '--accept', '--yes', '--json=state,accepted_by');
      expect(JSON.parse(accepted.stdout)).toMatchObject({
        state: 'ended',
        accepted_by: expect.stringMatching(/^usr_/),
      });
      expect([await balanceOf(daemon.login), await balanceOf(bob.login)]).toEqual(balances);
      await paid(daemon.login, 20_000);
      await expectSound();
    });

    test('that are imported again after it get what the node says about them', async () => {
      if (!tells[name]?.receipts) return;
      const carol = await addPerson(daemon, 'carol');
      const backup = join(folder, 'without-carol.db');
      await cli('backup', backup);
      const made = await api(carol.login, 'POST', '/api/agents/me/wallet', {});
      const phrase = made.body.data.mnemonic as string;
      await received(carol.login, 300);
      await received(carol.login, 45);
      await restoreTo(backup);
      // What was paid by hand is close enough to the backup to be asked about again.
      const accepted = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/reconcile', {
        accept: true,
      });
      expect([200, 409]).toContain(accepted.status);
      const env = { GATEWAY_HOME: daemon.home, GATEWAY_KEY: carol.login };
      const imported = await runCli(['wallet', 'import'], { env, stdin: `${phrase}\n` });
      expect(imported).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('wallet reconcile --since'),
      });
      expect(await balanceOf(carol.login)).toBe(0);
      const report = await reconcile({ since: new Date(Date.now() - 3_600_000).toISOString() });
      expect(report.booked).toEqual({ payments: 0, receipts: 2 });
      expect(await balanceOf(carol.login)).toBe(345_000);
      // Those that were paid by hand are left to the node again.
      if (report.state === 'open') await reconcile({ accept: true });
      await paid(carol.login, 20_000);
      await expectSound();
    });

    test('stay as they are when a daemon that reconciles them is stopped, and once more from an earlier time', async () => {
      const balances = async () => [await balanceOf(daemon.login), await balanceOf(bob.login)];
      const before = await balances();
      const backup = join(folder, 'third.db');
      await cli('backup', backup);
      await restoreTo(backup);
      await daemon.stop({ keep: true });
      await start(daemon.home);
      onTestFinished(async () => void (await reconcile({ accept: true }).catch(() => {})));
      // Everything since the day before is known, but for what was paid by hand.
      const since = new Date(Date.now() - 86_400_000).toISOString();
      const report = await reconcile({ since });
      expect(report.booked).toEqual({ payments: 0, receipts: 0 });
      expect(report.unexplained.every(({ wallet }: { wallet: string | null }) => wallet === null)).toBe(true);
      expect(await balances()).toEqual(before);
      await expectSound();
    });
  },
);
