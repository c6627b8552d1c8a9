import { describe, expect, test } from 'vitest';
import { formatX402, parsePaymentPayload, parsePaymentRequired } from '../../../src/shared/payments/x402.ts';

const accepted = {
  scheme: 'exact',
  network: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
  amount: '25000',
  asset: 'BTC',
  payTo: 'anonymous',
  maxTimeoutSeconds: 300,
  extra: { paymentMethod: 'lightning', invoice: 'lnbcrt250n1p' },
};

const base64 = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64');

describe('x402', () => {
  test('a payment is read from PAYMENT-SIGNATURE', () => {
    const payload = { x402Version: 2, accepted, payload: { invoice: 'lnbcrt250n1p' } } as const;
    expect(formatX402(payload)).toBe(base64(payload));
    expect(parsePaymentPayload(formatX402(payload))).toEqual(payload);
  });

  test.each([
    ['not base64', '!{"x402Version":2}'],
    ['JSON that is cut off', '{"x402Version":2'],
    ['not JSON', 'AAAA'],
    ['another version', base64({ x402Version: 1, accepted, payload: {} })],
    ['nothing accepted', base64({ x402Version: 2, payload: {} })],
    ['no amount', base64({ x402Version: 2, accepted: { ...accepted, amount: null }, payload: {} })],
    ['no proof', base64({ x402Version: 2, accepted })],
  ])('a malformed payment is rejected: %s', (_name, header) => {
    expect(parsePaymentPayload(header)).toBeUndefined();
  });

  test('an offer is read from PAYMENT-REQUIRED, without what is malformed in it', () => {
    const offer = { x402Version: 2, resource: { url: 'http://127.0.0.1:4100/v1/responses' } } as const;
    const header = base64({ ...offer, accepts: [accepted, { scheme: 'exact' }] });
    expect(parsePaymentRequired(header)).toEqual({ ...offer, accepts: [accepted] });
    expect(parsePaymentRequired(base64({ ...offer, accepts: {} }))).toBeUndefined();
  });
});
