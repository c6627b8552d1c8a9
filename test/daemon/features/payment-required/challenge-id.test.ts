import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonicalBase64Url, challengeId } from '../../../../src/daemon/features/payment-required/index.ts';
import { requestHashOf } from '../../../../src/daemon/features/payment-required/offer.ts';

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

/** The cases are those of `exact_lnbtc.json` in x402-foundation/x402 (Apache-2.0). */
test.each([
  [
    'GET',
    'https://api.example.com/article/A',
    '',
    '0d6623f775e025501fa7f0a30b54da25aad62b6ccfe35c85da38016711e6c018',
  ],
  [
    'GET',
    'https://api.example.com/article/B',
    '',
    '4a99860f75eed1ea8178a5db488e044173bc570c8a6210f2c8590cdf8622d509',
  ],
  [
    'POST',
    'https://api.example.com/article/A',
    '',
    'a66ae81d2b71d1d7f852985ee9db1388df785560d57114524bf7c77512962d08',
  ],
  [
    'GET',
    'https://api.example.com/article/A',
    'x',
    'c51115dd8855d57e7f55c2a57ef957c2c15b4acd627232c88abd0d5d1f4d0c57',
  ],
  [
    'POST',
    'https://api.example.com/article/A',
    '{"a":1}',
    'bb7f8350652f2332572e25e9cde535f32cac717de22f3ac05f8331d57c3bca68',
  ],
  [
    'POST',
    'https://api.example.com/article/A',
    '{"a": 1}',
    '0807ffd5f59692e814bc38d8d3a7057632e461eb3dc0074c23fe59abc1c71362',
  ],
  [
    'GET',
    'https://api.example.com/?a=1&b=2',
    '',
    '4877f49a336836be73dbabca1ced250e5280690682dd2e97ec1805f96faff277',
  ],
  [
    'GET',
    'https://[::1]:8443/article/A?x=%2F',
    '',
    '980a3a54eae008e4be8ee2d2b98483892f1dc7bd7e52aac5a434ff2394ca2dc7',
  ],
])('the hash that commits an invoice to %s %s %j', (method, url, body, hash) => {
  const digest = createHash('sha256').update(body).digest('hex');
  expect(requestHashOf({ method, digest, path: '' }, url)).toBe(hash);
});
