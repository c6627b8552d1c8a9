import { describe, expect, test } from 'vitest';
import type { Payment, WalletInvoice } from '../../../../src/shared/contract/payments.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { type Answers, keys, openTui, type TestCall } from '../../../support/open-tui.ts';

const at = Date.parse('2026-11-22T12:00:00.000Z');
const time = (minutes: number) => new Date(at + minutes * 60_000).toISOString();
const text = `lnbcrt15u1${'p'.repeat(240)}`;
const bobs = `lnbcrt20u1${'q'.repeat(240)}`;

const balance = {
  walletId: 'wal_1',
  identityPubkey: '02ab',
  network: 'regtest',
  backend: 'embedded',
  balanceSats: 12_345,
  balanceMsats: 12_345_000,
  pendingMsats: 0,
  problem: null,
};
const invoice: WalletInvoice = {
  id: 'inv_1',
  paymentRequest: text,
  paymentHash: 'ab',
  amountSats: 1500,
  amountMsats: 1_500_000,
  description: 'Two coffees',
  status: 'open',
  receivedMsats: null,
  createdAt: time(-5),
  expiresAt: time(55),
  paidAt: null,
};
const payment: Payment = {
  paymentId: 'pay_1',
  status: 'succeeded',
  failureReason: null,
  quotedAmountMsats: 2_000_000,
  maxFeeMsats: 20_000,
  feeMsats: 1500,
  paymentHash: 'cd',
  preimage: 'ef'.repeat(32),
  resolvedBy: null,
  paymentRequest: bobs,
  payee: '03bb',
  description: 'Books',
  host: null,
  createdAt: time(-1),
  settledAt: time(-1),
};
const quote = {
  amountMsats: 2_000_000,
  amountSats: 2000,
  maxFeeMsats: 20_000,
  description: 'Books',
  descriptionHash: null,
  payee: '03bb',
  network: 'bitcoin',
  paymentHash: 'cd',
  createdAt: time(-1),
  expiresAt: time(59),
  problem: null,
};
const page = (data: unknown[]) => ({ data, meta: { nextCursor: null } });
const answers: Answers = {
  'GET /api/agents/me/balance': () => ({ data: balance }),
  'GET /api/payments/invoices': () => page([invoice]),
  'GET /api/payments': () => page([payment]),
  'GET /api/payments/invoices/{invoiceId}': () => ({ data: { invoice } }),
};

describe.each([
  [80, 24],
  [120, 40],
])('the wallet on a terminal of %i × %i', (columns, rows) => {
  test('shows the balance, what came in and what went out, newest first', async () => {
    const tui = openTui({ answers, columns, rows, now: () => at });
    tui.type('9');
    await tui.shows('Balance: 12,345 sats · embedded · regtest (play money)');
    await tui.shows(/payment +-2,000 sats +succeeded +Books.*\n.*invoice +\+1,500 sats +open +Two coffees/);
    expect(tui.lines()).toHaveLength(rows);
    tui.type('Y');
    tui.type(keys.down);
    tui.type('Y');
    await tui.shows('Copied');
    expect(tui.copied).toEqual(['gateway payments show pay_1', 'gateway invoice show inv_1']);
    tui.type(']');
    await tui.shows('[invoices]');
    await tui.shows(/^((?!Books).)*$/s);
  });

  test('creates an invoice, whose text can be copied', async () => {
    const asked: TestCall[] = [];
    const create = (call: TestCall) => {
      asked.push(call);
      return { data: { invoice } };
    };
    const tui = openTui({ answers: { ...answers, 'POST /api/payments/invoice': create }, columns, rows });
    tui.type('9');
    tui.type('c');
    tui.type('ten');
    tui.type(keys.enter);
    await tui.shows('This is not a number.');
    tui.type(keys.ctrlU);
    tui.type(`1,500\tTwo coffees`);
    tui.type(keys.enter);
    await tui.shows('Wallet › invoice of 1,500 sats for Two coffees');
    expect(asked.map(({ body }) => body)).toEqual([{ amountSats: 1500, description: 'Two coffees' }]);
    // Half of a QR code cannot be scanned.
    await tui.shows(rows < 30 ? /The QR code needs \d+ × \d+ cells/ : /█[█▀▄ ]{48,}█/);
    tui.type('y');
    await tui.shows('Copied 250 characters');
    expect(tui.copied).toEqual([text]);
  });

  test('shows what is to be paid, and pays only when the user agrees', async () => {
    const paid: TestCall[] = [];
    const tui = openTui({
      answers: {
        ...answers,
        'POST /api/payments/decode': () => ({ data: quote }),
        'POST /api/payments/pay': (call) => {
          paid.push(call);
          return { data: { payment } };
        },
      },
      columns,
      rows,
    });
    tui.type('9');
    await tui.shows('Balance');
    const ask = async () => {
      tui.type('r');
      tui.type(bobs);
      tui.type(keys.enter);
      await tui.shows('Pay 2,000 sats?');
    };
    await ask();
    for (const fact of [/amount +2,000 sats/, /fee +at most 20 sats/, /for +Books/, /payee +03bb/])
      await tui.shows(fact);
    await tui.shows('[>Cancel<] [ Pay ]');
    tui.type(keys.enter);
    await tui.shows(/^((?!Pay 2,000).)*$/s);
    await tui.shows('Balance');
    expect(paid).toEqual([]);
    await ask();
    tui.type('y');
    await tui.shows('Wallet › payment of 2,000 sats · succeeded');
    expect(paid.map(({ body }) => body)).toEqual([{ invoice: bobs, maxAmountMsats: 2_000_000 }]);
    tui.type(keys.escape);
    await tui.shows('Balance');
  });
});

test('an invoice that cannot be paid is not asked about', async () => {
  const problem = '`invoice` has expired.';
  const tui = openTui({
    answers: { ...answers, 'POST /api/payments/decode': () => ({ data: { ...quote, problem } }) },
  });
  tui.type('9');
  tui.type('r');
  tui.type(bobs);
  tui.type(keys.enter);
  await tui.shows('! `invoice` has expired.');
  expect(tui.frame()).not.toContain('Cancel');
});

test('a payment without a result says so, and one that failed says why', async () => {
  let status: Pick<Payment, 'status' | 'failureReason'> = { status: 'pending', failureReason: null };
  const pay = () => ({ data: { payment: { ...payment, feeMsats: null, preimage: null, ...status } } });
  const tui = openTui({
    answers: {
      ...answers,
      'POST /api/payments/decode': () => ({ data: quote }),
      'POST /api/payments/pay': pay,
    },
  });
  const payNow = async () => {
    tui.type('r');
    tui.type(bobs);
    tui.type(keys.enter);
    await tui.shows('Pay 2,000 sats?');
    tui.type('y');
  };
  tui.type('9');
  await payNow();
  await tui.shows(/The result is not known yet\. Do not pay again/);
  tui.type(keys.escape);
  await tui.shows('Balance');
  status = { status: 'failed', failureReason: 'no_route' };
  await payNow();
  await tui.shows('The payment failed: no_route. Nothing was paid.');
});

test('says why the wallet pays nothing', async () => {
  const problem = 'This host restored a backup.';
  const tui = openTui({
    answers: { ...answers, 'GET /api/agents/me/balance': () => ({ data: { ...balance, problem } }) },
  });
  tui.type('gb');
  await tui.shows(/Balance: 12,345 sats.*\n.*This host restored a backup\./);
});

test('without a wallet, the screen says how to create one', async () => {
  const none = () => {
    throw new ApiError('not_found');
  };
  const tui = openTui({
    answers: {
      'GET /api/agents/me/balance': none,
      'GET /api/payments/invoices': () => page([]),
      'GET /api/payments': () => page([]),
    },
  });
  tui.type('gb');
  await tui.shows('You have no wallet yet. In a shell, run: gateway wallet create');
});
