import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { chargeCredential, chargeProblem } from '../../../../src/daemon/features/paywalls/charges.ts';
import { formatCredential, type PaymentChallenge } from '../../../../src/shared/payments/payment-scheme.ts';

const digestOf = (body: string) => createHash('sha256').update(body).digest('hex');
const preimage = 'ab'.repeat(32);
const challenge: PaymentChallenge = {
  id: 'ch_1',
  realm: 'weather',
  method: 'lightning',
  intent: 'charge',
  request: 'e30',
  expires: '2026-11-22T10:00:00.000Z',
};
const credential = { challenge, payload: { preimage } };
const charge = {
  id: 'token',
  paywallId: 'pw_1',
  invoiceId: 'inv_1',
  uses: 0,
  rights: null,
  seenAt: null,
  paymentId: 'ch_1',
  paymentHash: createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex'),
  createdAt: 0,
  expiresAt: 3600_000,
  invoice: 'lnbc1',
  amount: 1000,
  invoiceExpiresAt: 600_000,
  request: { method: 'GET', target: '/weather', digest: digestOf('') },
};
const problemAt = (now: number, changes: object = {}, body: Uint8Array | undefined = Buffer.alloc(0)) =>
  chargeProblem(
    { credential: { ...credential, challenge: { ...challenge, ...changes } }, preimage },
    {
      charge,
      challenge,
      now,
      request: { method: 'GET', target: '/weather', readBody: async () => body },
    },
  );

test('a charge that was paid in time is honoured until a token would expire', async () => {
  expect(await problemAt(0)).toBeUndefined();
  expect(await problemAt(charge.invoiceExpiresAt + 1)).toBeUndefined();
  expect(await problemAt(charge.expiresAt)).toBe('expired');
});

test('a charge pays for its own body only, not for one that is too long to be compared', async () => {
  expect(await problemAt(0, {}, Buffer.from('other'))).toBe('request_mismatch');
  const request = { method: 'GET', target: '/weather', readBody: async () => undefined };
  const presented = { credential, preimage };
  expect(await chargeProblem(presented, { charge, challenge, now: 0, request })).toBe('request_mismatch');
});

test('a credential may leave out optional parameters, but not change them', async () => {
  expect(await problemAt(0, { expires: undefined })).toBeUndefined();
  expect(await problemAt(0, { expires: '2026-11-23T10:00:00.000Z' })).toBe('unknown_challenge');
});

test('credentials are read from either header, and those of other schemes are left alone', () => {
  const text = formatCredential(credential);
  expect(chargeCredential({ authorization: text })).toMatchObject({ preimage });
  expect(chargeCredential({ authorization: 'Bearer x', 'payment-authorization': text })).toMatchObject({
    preimage,
  });
  expect(chargeCredential({ authorization: 'Bearer x' })).toBeUndefined();
  expect(chargeCredential({})).toBeUndefined();
  expect(chargeCredential({ authorization: 'Payment x' })).toBe('malformed');
  expect(chargeCredential({ authorization: text, 'payment-authorization': 'Bearer x' })).toBe('malformed');
});
