import { describe, expect, test } from 'vitest';
import { canonicalBase64Url, challengeId } from '../../../../src/daemon/features/payment-required/index.ts';

/** The cases are those of `mpp/testdata/vectors.json` in lightninglabs/aperture (MIT). */
const secret = Buffer.from('6d70702d746573742d766563746f722d736563726574', 'hex');

describe('the id of a challenge', () => {
  const charge = { method: 'lightning', intent: 'charge' };

  test.each([
    [
      'missing parameters are empty',
      { ...charge, realm: 'api.example.com', request: 'eyJhbW91bnQiOiIxMDAifQ' },
      '_9D0WlPoPRltxAd6AdpQd6auVOOeQGJ_J8BkGeBE_bU',
    ],
    [
      'the description is not covered',
      {
        ...charge,
        realm: 'api.example.com',
        intent: 'session',
        request: 'eyJhbW91bnQiOiIzIn0',
        expires: '2026-03-15T12:05:00Z',
        digest: 'sha-256=:X48E9q:',
        description: 'not covered by the HMAC',
        opaque: 'eyJvcmRlcklkIjoiMTIzIn0',
      },
      'Wb8N5-PD4XjMfYGzuuY2bdpsrCQZzkQUX-A_ByIetHw',
    ],
    [
      'separators are not escaped',
      { ...charge, realm: 'a|b', request: 'cQ' },
      'hE7mzL8ATHSnNdtPSJsxCRkpoUjIlf1sQErzg-VsbAA',
    ],
  ])('%s', (_name, challenge, id) => {
    expect(challengeId(secret, challenge)).toBe(id);
  });
});

test.each([
  ['{"z":1,"m":2,"a":3,"A":4,"10":5,"2":6}', '{"10":5,"2":6,"A":4,"a":3,"m":2,"z":1}'],
  ['{"description":"Q&A <b> endpoint"}', '{"description":"Q&A <b> endpoint"}'],
  [
    '{"amount":"100","methodDetails":{"invoice":"lnbc1u1p","paymentHash":"bc230847","network":"mainnet"},"currency":"sat"}',
    '{"amount":"100","currency":"sat","methodDetails":{"invoice":"lnbc1u1p","network":"mainnet","paymentHash":"bc230847"}}',
  ],
  ['{"a":1.0,"b":1e21,"c":-0}', '{"a":1,"b":1e+21,"c":0}'],
])('the request %s is canonical', (json, canonical) => {
  expect(Buffer.from(canonicalBase64Url(JSON.parse(json)), 'base64url').toString()).toBe(canonical);
});
