import { expect, test } from 'vitest';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const invoice = 'lnbcrt15u1pexample0000000000';
const payment = {
  paymentId: 'pay_1',
  status: 'succeeded',
  failureReason: null,
  quotedAmountMsats: 1_500_000,
  maxFeeMsats: 15_000,
  feeMsats: 0,
  description: null,
  host: null,
  payee: '02aa',
  createdAt: '2026-11-21T08:00:00.000Z',
};

test('pay waits for the result as many seconds as --timeout says', async () => {
  const asked = { invoice, payee: null, description: null, minMsats: null, maxMsats: null, thanks: null };
  const { env, calls } = await fakeDaemon({
    'POST /api/payments/request': () => ({ success: true, data: asked }),
    'POST /api/payments/pay': () => ({ success: true, data: { payment } }),
  });
  const { code } = await runCli(['pay', invoice, '--max-sats', '2000', '--timeout', '30'], { env });
  expect(code).toBe(0);
  expect(calls.at(-1)?.body).toEqual({ invoice, maxAmountSats: 2000, timeoutMs: 30_000 });
});
