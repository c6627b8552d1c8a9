import { expect, test } from 'vitest';
import { createInvoices } from '../../../../src/daemon/features/wallet/index.ts';
import type { InvoiceRecord } from '../../../../src/daemon/features/wallet/store.ts';

const hourMs = 60 * 60 * 1000;
const start = Date.parse('2026-11-23T08:00:00Z');

test('an unpaid invoice lapses an hour after its expiry, by a clock that is not in doubt', async () => {
  let sure = start;
  const lapsed: number[] = [];
  const invoice = { id: 'inv_1', paymentHash: 'hash', expiresAt: start + hourMs } as InvoiceRecord;
  const invoices = createInvoices({
    store: {
      openInvoices: async () => [invoice],
      lapse: async ({ at }: { at: number }) => void lapsed.push(at),
    },
    backend: () => ({ name: 'lnd', lookUpInvoice: async () => undefined }),
    // Wrong by 30 days.
    world: { now: () => sure + 30 * 24 * hourMs },
    sure: () => sure,
  } as unknown as Parameters<typeof createInvoices>[0]);
  const collect = () => invoices.collect(new AbortController().signal);
  await collect();
  sure += 2 * hourMs - 1;
  await collect();
  expect(lapsed).toEqual([]);
  sure += 1;
  await collect();
  expect(lapsed).toEqual([start + 2 * hourMs]);
});
