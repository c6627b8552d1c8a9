import { expect, test } from 'vitest';
import {
  HttpTools,
  type HttpToolsDeps,
  type ToolUser,
} from '../../../../src/daemon/features/autopilots/http-tools.ts';
import { encodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';

const invoice = encodeInvoice(
  {
    network: 'bitcoin',
    amountMsat: 3000,
    timestamp: 1_795_000_000,
    paymentHash: new Uint8Array(32).fill(1),
    paymentSecret: new Uint8Array(32).fill(2),
    description: 'Weather',
    features: [8, 14],
  },
  new Uint8Array(32).fill(7),
);

// PrimalHQ/primal-android-app#638: a wallet keeps no proof of a payment, which a person then declares as made.
test('a request is not paid again where its payment has no proof to show', async () => {
  let paid = 0;
  const payment = { id: 'pay_1', state: 'succeeded', amount: 3000, fee: 0 } as never;
  const deps: HttpToolsDeps = {
    send: async () => ({
      status: 402,
      headers: { 'www-authenticate': `L402 macaroon="AAAA", invoice="${invoice}"` },
      body: new Uint8Array(),
      isCut: false,
    }),
    pay: async () => {
      paid += 1;
      return payment;
    },
    payment: async () => payment,
    preimage: () => null,
  };
  const user = { mayPay: true, maxSpendMsat: 10_000, signal: new AbortController().signal, note: () => {} };
  const tools = new HttpTools(deps, user as unknown as ToolUser);
  const autopilot = { id: 'pilot_1', policy: { l402AllowedHosts: ['weather.example'] } } as never;
  const ask = () =>
    tools.use(autopilot, 'paid_http_request', { url: 'https://weather.example/', max_amount_sats: 3 });
  await expect(ask()).rejects.toThrow('The payment pay_1 for this request succeeded, but there is no proof');
  await expect(ask()).rejects.toThrow('no proof to show');
  expect(paid).toBe(1);
});
