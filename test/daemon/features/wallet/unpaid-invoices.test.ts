import { expect, test } from 'vitest';
import { UnpaidInvoices } from '../../../../src/daemon/features/wallet/index.ts';
import type { InvoiceRecord } from '../../../../src/daemon/features/wallet/store.ts';

const start = Date.parse('2026-11-23T08:00:00Z');
const hour = 60 * 60 * 1000;
const agent = { kind: 'agent', id: 'agt_1' } as const;

function make() {
  let now = start;
  let issued = 0;
  const paidElsewhere = new Set<string>();
  const invoiceByHash = async (paymentHash: string) => {
    const state = paidElsewhere.has(paymentHash) ? 'paid' : 'open';
    return { paymentHash, state } as InvoiceRecord;
  };
  const invoices = new UnpaidInvoices({ world: { now: () => now }, store: { invoiceByHash }, graceMs: hour });
  const issue = async () => {
    issued += 1;
    return { paymentHash: `hash ${issued}`, expiresAt: now + hour };
  };
  return {
    invoices,
    paidElsewhere,
    /** How many of so many are issued. */
    async ask(count: number, requester: Parameters<UnpaidInvoices['within']>[0] = agent): Promise<number> {
      const asked = await Promise.allSettled(
        Array.from({ length: count }, () => invoices.within(requester, issue)),
      );
      for (const each of asked)
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'rate_limited' });
      return asked.filter(({ status }) => status === 'fulfilled').length;
    },
    pass(ms: number) {
      now += ms;
    },
  };
}

test('a requester has twenty unpaid invoices at a time, however many are asked for at once', async () => {
  const { ask } = make();
  expect(await ask(50)).toBe(20);
  expect(await ask(1)).toBe(0);
  expect(await ask(1, { ...agent, id: 'agt_2' })).toBe(1);
  expect(await ask(200, { kind: 'address', id: 'agt_1' })).toBe(100);
});

test('a paid invoice makes room for another one, once', async () => {
  const { invoices, ask } = make();
  await ask(20);
  invoices.paid({ paymentHash: 'hash 7' });
  invoices.paid({ paymentHash: 'hash 7' });
  invoices.paid({ paymentHash: 'of nobody' });
  expect(await ask(5)).toBe(1);
});

test('an invoice whose payment another daemon has noticed makes room, too', async () => {
  const { ask, pass, paidElsewhere } = make();
  await ask(20);
  for (const paymentHash of ['hash 3', 'hash 20']) paidElsewhere.add(paymentHash);
  expect(await ask(1)).toBe(1);
  expect(await ask(5)).toBe(1);
  // Looked up once a second.
  paidElsewhere.add('hash 5');
  expect(await ask(5)).toBe(0);
  pass(1000);
  expect(await ask(5)).toBe(1);
});

test('an invoice counts for as long as the node is asked about it', async () => {
  const { invoices, ask, pass } = make();
  await ask(12);
  pass(hour);
  await ask(8);
  const refused = invoices.within(agent, () => Promise.reject(new Error('not asked for')));
  await expect(refused).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 });
  pass(hour);
  expect(await ask(50)).toBe(12);
});

test('an invoice that could not be issued does not count', async () => {
  const { invoices, ask } = make();
  await ask(19);
  const failing = () => Promise.reject(new Error('the node is down'));
  for (let turn = 0; turn < 3; turn += 1)
    await expect(invoices.within(agent, failing)).rejects.toThrow('the node is down');
  expect(await ask(5)).toBe(1);
});
