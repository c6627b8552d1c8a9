import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { addPerson, askDaemon, type Person } from '../support/users.ts';

const perRound = 12;
const amountSats = 100;
const filledSats = 100_000;

let daemon: ChildDaemon;
let bob: Person;

const ask = (as: string, method: string, path: string, json?: object, headers?: Record<string, string>) =>
  askDaemon(daemon, method, path, { as, ...(json && { json }), ...(headers && { headers }) });
const post = async (as: string, path: string, json: object) => (await ask(as, 'POST', path, json)).body.data;
const balanceOf = async (as: string): Promise<number> =>
  (await ask(as, 'GET', '/api/agents/me/balance')).body.data.balanceSats;

beforeAll(async () => {
  daemon = await startChildDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n' });
  bob = await addPerson(daemon, 'bob');
  for (const login of [daemon.login, bob.login]) await post(login, '/api/agents/me/wallet', {});
  await post(daemon.login, '/api/agents/me/wallet/faucet', { amountSats: filledSats });
});

afterAll(async () => {
  await daemon.remove();
});

test('payments killed at any moment happen wholly or not at all, and once', async () => {
  let paid = 0;
  for (const ms of [2, 12]) {
    const invoices: { id: string; paymentRequest: string }[] = [];
    for (let count = 0; count < perRound; count += 1) {
      invoices.push((await post(bob.login, '/api/payments/invoice', { amountSats })).invoice);
    }
    const pay = ({ id, paymentRequest: invoice }: { id: string; paymentRequest: string }) =>
      ask(daemon.login, 'POST', '/api/payments/pay', { invoice }, { 'idempotency-key': id });
    const running = invoices.map((invoice) => pay(invoice).catch(() => undefined));
    await wait(ms);
    daemon.signal('SIGKILL');
    await daemon.ended;
    const answers = await Promise.all(running);
    daemon = await startChildDaemon({ home: daemon.home });
    expect((await ask(daemon.login, 'POST', '/v1/admin/ledger/verify')).body.problems).toEqual([]);
    for (const [at, invoice] of invoices.entries()) {
      const { body } = await ask(bob.login, 'GET', `/api/payments/invoices/${invoice.id}`);
      const { status } = body.data.invoice;
      // What was answered is on disk, and what is not paid can be tried again.
      if (answers[at]?.status === 200) expect(status).toBe('paid');
      const again = await pay(invoice);
      // The answer of a payment that was killed after it was stored is replayed; one that was not stored is refused.
      expect(status === 'paid' ? [200, 409] : [200]).toContain(again.status);
    }
    paid += perRound * amountSats;
    expect(await balanceOf(daemon.login)).toBe(filledSats - paid);
    expect(await balanceOf(bob.login)).toBe(paid);
    expect((await ask(daemon.login, 'POST', '/v1/admin/ledger/verify')).body.problems).toEqual([]);
  }
});
