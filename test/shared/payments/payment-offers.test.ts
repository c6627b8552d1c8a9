import { describe, expect, test } from 'vitest';
import { mint } from '../../../src/daemon/features/paywalls/macaroon.ts';
import { encodeMacaroon } from '../../../src/shared/payments/macaroon.ts';
import {
  type InvoiceFacts,
  offerMismatch,
  type PaymentOffer,
  paymentOffersIn,
  proofOf,
  tokenBounds,
} from '../../../src/shared/payments/payment-offers.ts';
import {
  formatChallenge,
  parseCredential,
  toBase64Url,
} from '../../../src/shared/payments/payment-scheme.ts';
import { chains, formatX402, parsePaymentPayload } from '../../../src/shared/payments/x402.ts';

const hash = 'ab'.repeat(32);
const payee = `02${'cd'.repeat(32)}`;
const requestHash = 'ef'.repeat(32);
const preimage = '12'.repeat(32);
const invoice = 'lnbcrt30n1invoice';
const facts: InvoiceFacts = {
  amountMsat: 3000,
  paymentHash: hash,
  network: 'regtest',
  payee,
  descriptionHash: requestHash,
};

const tokenWith = (caveats: string[], id = Buffer.from(`0000${hash}${'00'.repeat(32)}`, 'hex')) =>
  encodeMacaroon(mint(Buffer.alloc(32, 1), id, caveats)).toString('base64');

const charge = (details: object = {}, amount = '3') =>
  formatChallenge({
    id: 'c1',
    realm: 'weather',
    method: 'lightning',
    intent: 'charge',
    request: toBase64Url(
      JSON.stringify({
        amount,
        currency: 'sat',
        methodDetails: { invoice, paymentHash: hash, network: 'regtest', ...details },
      }),
    ),
    header: 'Payment-Authorization',
  });
const x402 = (kind: 'bip122' | 'lnbtc', changes: object = {}, extra: object = {}) =>
  formatX402({
    x402Version: 2,
    resource: { url: 'https://example.com/' },
    accepts: [
      {
        scheme: 'exact',
        network: `${kind}:${chains.regtest}`,
        amount: '3000',
        asset: 'BTC',
        payTo: kind === 'lnbtc' ? payee : 'anonymous',
        maxTimeoutSeconds: 600,
        extra: {
          invoice,
          ...(kind === 'lnbtc' ? { requestHash } : { paymentMethod: 'lightning' }),
          ...extra,
        },
        ...changes,
      },
    ],
  });
const offerIn = (headers: Record<string, string>): PaymentOffer => {
  const [offer] = paymentOffersIn(headers);
  if (!offer) throw new Error('no offer');
  return offer;
};

describe('the offers of a 402', () => {
  test('are read in each dialect, L402 first, and proven in the header that each one names', () => {
    const token = tokenWith([]);
    const offers = paymentOffersIn({
      'www-authenticate': `LSAT macaroon="${token}", invoice="${invoice}", L402 token="${token}", invoice="${invoice}", ${charge()}`,
      'payment-required': x402('lnbtc'),
    });
    expect(offers.map(({ scheme, invoice: asked }) => [scheme, asked])).toEqual([
      ['L402', invoice],
      ['L402', invoice],
      ['Payment', invoice],
      ['x402', invoice],
    ]);
    const [lsat, l402, scheme, byPreimage] = offers.map((offer) => proofOf(offer, preimage));
    expect(lsat).toEqual({ authorization: `LSAT ${token}:${preimage}` });
    expect(l402).toEqual({ authorization: `L402 ${token}:${preimage}` });
    expect(parseCredential(scheme?.['payment-authorization'] ?? '')?.payload).toEqual({ preimage });
    const signature = (headers?: Record<string, string>) =>
      parsePaymentPayload(headers?.['payment-signature'] ?? '')?.payload;
    expect(signature(byPreimage)).toEqual({ preimage });
    const claim = proofOf(offerIn({ 'payment-required': x402('bip122') }), preimage);
    expect(signature(claim)).toEqual({ invoice });
  });

  test('of other schemes, assets and intents are none', () => {
    const required = x402('bip122', {}, { paymentMethod: 'card' });
    expect(paymentOffersIn({ 'www-authenticate': 'Basic realm="x"', 'payment-required': required })).toEqual(
      [],
    );
    expect(paymentOffersIn({ 'payment-required': x402('bip122', { scheme: 'upto' }) })).toEqual([]);
    expect(paymentOffersIn({})).toEqual([]);
  });
});

describe('an invoice', () => {
  const dialects: [name: string, offer: PaymentOffer, compared: (keyof InvoiceFacts)[]][] = [
    [
      'L402',
      offerIn({ 'www-authenticate': `L402 macaroon="${tokenWith([])}", invoice="${invoice}"` }),
      ['paymentHash'],
    ],
    ['Payment', offerIn({ 'www-authenticate': charge() }), ['amountMsat', 'paymentHash', 'network']],
    ['x402 by claim', offerIn({ 'payment-required': x402('bip122') }), ['amountMsat', 'network']],
    [
      'x402 by preimage',
      offerIn({ 'payment-required': x402('lnbtc') }),
      ['amountMsat', 'network', 'payee', 'descriptionHash'],
    ],
  ];
  test.each(dialects)('has to be what its offer says: %s', (_name, offer, compared) => {
    expect(offerMismatch(offer, facts)).toBeUndefined();
    const others: InvoiceFacts = {
      amountMsat: 3001,
      paymentHash: 'ff'.repeat(32),
      network: 'bitcoin',
      payee: `03${'cd'.repeat(32)}`,
      descriptionHash: null,
    };
    const different = (Object.keys(others) as (keyof InvoiceFacts)[]).filter(
      (name) => offerMismatch(offer, { ...facts, [name]: others[name] }) !== undefined,
    );
    expect(different).toEqual(
      Object.keys(others).filter((name) => compared.includes(name as keyof InvoiceFacts)),
    );
    expect(offerMismatch(offer, { ...facts, amountMsat: null })).toBe('has no amount');
  });

  test.each([
    ['an amount that is no whole number', x402('bip122', { amount: '3e3' })],
    ['a chain that is not known', x402('bip122', { network: 'bip122:ffff' })],
  ])('never agrees with %s', (_name, header) => {
    expect(offerMismatch(offerIn({ 'payment-required': header }), facts)).toBeDefined();
  });

  test('cannot be compared with a token of another form', () => {
    const opaque = offerIn({ 'www-authenticate': `L402 token="opaque", invoice="${invoice}"` });
    expect(offerMismatch(opaque, facts)).toBeUndefined();
    expect(tokenBounds('opaque')).toEqual(unbounded);
  });
});

const unbounded = { expiresAt: Number.POSITIVE_INFINITY, uses: Number.POSITIVE_INFINITY };

test('a token is bounded by the strictest of its caveats', () => {
  expect(tokenBounds(tokenWith(['services=a:0']))).toEqual(unbounded);
  const caveats = ['a_valid_until=2000', 'a_max_uses=3', 'a_valid_until=1000', 'a_max_uses=1'];
  expect(tokenBounds(tokenWith(caveats))).toEqual({ expiresAt: 1_000_000, uses: 1 });
});
