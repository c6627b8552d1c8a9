import { describe, expect, test } from 'vitest';
import {
  formatChallenge,
  formatCredential,
  formatReceipt,
  fromBase64,
  lightningChargeIn,
  parseAuthChallenges,
  parseChallenges,
  parseCredential,
  toBase64Url,
} from '../../../src/shared/payments/payment-scheme.ts';
import { ends } from '../../support/ends.ts';

/** The cases are those of `mpp/testdata/vectors.json` in lightninglabs/aperture (MIT). */
describe('challenges', () => {
  const charge = { id: 'a', realm: 'r', method: 'lightning', intent: 'charge', request: 'cQ' };
  const session = { ...charge, id: 'b', intent: 'session' };
  const [a, b] = [charge, session].map(formatChallenge);

  test.each([
    ['a minimal one', charge, 'Payment id="a", realm="r", method="lightning", intent="charge", request="cQ"'],
    [
      'one with every parameter',
      {
        ...session,
        expires: '2026-03-15T12:05:00Z',
        digest: 'sha-256=:X48E9q:',
        description: 'Inference session',
        opaque: 'eyJvcmRlcklkIjoiMTIzIn0',
      },
      'Payment id="b", realm="r", method="lightning", intent="session", request="cQ", expires="2026-03-15T12:05:00Z", digest="sha-256=:X48E9q:", description="Inference session", opaque="eyJvcmRlcklkIjoiMTIzIn0"',
    ],
    [
      'quotation marks',
      { ...charge, realm: 'api "quoted" example', description: 'say "hi"' },
      'Payment id="a", realm="api \\"quoted\\" example", method="lightning", intent="charge", request="cQ", description="say \\"hi\\""',
    ],
    [
      'backslashes',
      { ...charge, realm: 'a\\b\\\\c' },
      'Payment id="a", realm="a\\\\b\\\\\\\\c", method="lightning", intent="charge", request="cQ"',
    ],
    [
      'separators in a value',
      { ...charge, realm: 'one, two=three', description: 'Payment id="spoofed"' },
      'Payment id="a", realm="one, two=three", method="lightning", intent="charge", request="cQ", description="Payment id=\\"spoofed\\""',
    ],
    [
      'a tab and letters of Latin-1',
      { ...charge, realm: 'tab\there', description: 'café über' },
      'Payment id="a", realm="tab\there", method="lightning", intent="charge", request="cQ", description="café über"',
    ],
    [
      'the header for the credential',
      { ...charge, header: 'Payment-Authorization' },
      'Payment id="a", realm="r", method="lightning", intent="charge", request="cQ", header="Payment-Authorization"',
    ],
  ])('are formatted and parsed: %s', (_name, challenge, header) => {
    expect(formatChallenge(challenge)).toBe(header);
    expect(parseChallenges(header)).toEqual([challenge]);
  });

  test.each([
    ['two joined by a comma', `${a}, ${b}`, [charge, session]],
    ['no space after the comma', `${a},${b}`, [charge, session]],
    ['empty elements between them', `${a} , , ${b}`, [charge, session]],
    [
      'parameters of other schemes stay with those',
      `Basic realm="other", ${a}, Digest realm="other", intent="bogus", ${b}`,
      [charge, session],
    ],
    [
      'commas and scheme names within values',
      formatChallenge({ ...charge, id: 'a,b', realm: 'Payment id=c' }),
      [{ ...charge, id: 'a,b', realm: 'Payment id=c' }],
    ],
    [
      'names in any case',
      'payment ID="a", Realm="r", METHOD="lightning", intent="charge", ReQuEsT="cQ"',
      [charge],
    ],
    ['unquoted values', 'Payment id=a, realm=r, method=lightning, intent=charge, request=cQ', [charge]],
    ['the first of a repeated parameter', `${a}, id="second", intent="session"`, [charge]],
    ['an incomplete one is skipped', `Payment id="a", realm="r", ${b}`, [session]],
    ['none', 'Basic realm="other"', []],
    ['only an incomplete one', 'Payment id="a", realm="r"', []],
    ['garbage between them', `${a}, ==, "quoted", ${b}`, [charge, session]],
    ['an empty header', '', []],
  ])('are found in a list: %s', (_name, header, challenges) => {
    expect(parseChallenges(header)).toEqual(challenges);
  });

  test('of other schemes keep their parameters', () => {
    const [negotiate, l402] = parseAuthChallenges('Negotiate YWJj==, L402 macaroon="AGk=", invoice="lnbc1"');
    expect(negotiate).toMatchObject({ scheme: 'Negotiate' });
    expect(l402?.scheme).toBe('L402');
    expect([...(l402?.parameters ?? [])]).toEqual([
      ['macaroon', 'AGk='],
      ['invoice', 'lnbc1'],
    ]);
  });

  test.each([
    ['quotation marks', '"'.repeat(1_000_000)],
    ['an unterminated value', `Payment id="${'\\'.repeat(1_000_000)}`],
    ['parameters without a scheme', 'a='.repeat(500_000)],
  ])('a long malformed header ends: %s', (_name, header) => {
    expect(ends(() => parseChallenges(header))).toEqual([]);
  });

  test('characters that no header can contain are replaced', () => {
    expect(formatChallenge({ ...charge, description: 'a\r\nb → c' })).toContain('description="a??b ? c"');
  });

  test('a Lightning charge is read from its request', () => {
    const request = { amount: '100', currency: 'sat', methodDetails: { invoice: 'lnbc1u1p' } };
    const of = (json: unknown) =>
      lightningChargeIn({ ...charge, request: toBase64Url(JSON.stringify(json)) });
    expect(of(request)).toEqual(request);
    for (const amount of ['0', '-1', '1.5', '1e3', 0, -1, 1.5, null, undefined])
      expect(of({ ...request, amount }), String(amount)).toBeUndefined();
    for (const currency of ['usd', 'msat', 'btc', '', undefined])
      expect(of({ ...request, currency }), currency).toBeUndefined();
    expect(of({ ...request, methodDetails: {} })).toBeUndefined();
    expect(lightningChargeIn(session)).toBeUndefined();
  });
});

test.each([
  ['', ''],
  ['AA', '00'],
  ['__4', 'fffe'],
  ['aGVsbG8', '68656c6c6f'],
  ['aGVsbG8=', '68656c6c6f'],
  ['-_-_A-__', 'fbffbf03efff'],
  ['+/+/A+//', 'fbffbf03efff'],
  ['aGVsbG8===', '68656c6c6f'],
])('base64 %j is decoded', (encoded, hex) => {
  expect(fromBase64(encoded)?.toString('hex')).toBe(hex);
});

test.each(['AB', 'aGVs\nbG8', 'aGVs\rbG8', 'aGV=bG8', 'aGVsbG=', 'aGVsb', '!!!'])(
  'base64 %j is rejected',
  (encoded) => {
    expect(fromBase64(encoded)).toBeUndefined();
  },
);

describe('credentials', () => {
  const credential = {
    challenge: {
      id: 'kM9xPqWvT2nJrHsY4aDfEb',
      realm: 'api.example.com',
      method: 'lightning',
      intent: 'charge',
      request: 'eyJhbW91bnQiOiIxMDAifQ',
      expires: '2026-03-15T12:05:00Z',
    },
    payload: { preimage: 'a3f1e2d4b5c6a7e8' },
  };

  test('are formatted and parsed', () => {
    const header = formatCredential(credential);
    expect(header).toBe(
      'Payment eyJjaGFsbGVuZ2UiOnsiaWQiOiJrTTl4UHFXdlQybkpySHNZNGFEZkViIiwicmVhbG0iOiJhcGkuZXhhbXBsZS5jb20iLCJtZXRob2QiOiJsaWdodG5pbmciLCJpbnRlbnQiOiJjaGFyZ2UiLCJyZXF1ZXN0IjoiZXlKaGJXOTFiblFpT2lJeE1EQWlmUSIsImV4cGlyZXMiOiIyMDI2LTAzLTE1VDEyOjA1OjAwWiJ9LCJwYXlsb2FkIjp7InByZWltYWdlIjoiYTNmMWUyZDRiNWM2YTdlOCJ9fQ',
    );
    expect(parseCredential(header)).toEqual(credential);
    expect(parseCredential(header.replace('Payment', 'payment'))).toEqual(credential);
  });

  test.each([
    'Bearer abc123',
    'Payment ',
    'Payment !!!invalid!!!',
    'Payment AB',
    'Payment e29vcHN9',
    `Payment ${toBase64Url('{"challenge":{"realm":"r","method":"lightning","intent":"charge","request":"cQ"},"payload":{}}')}`,
    `Payment ${toBase64Url(JSON.stringify({ challenge: credential.challenge }))}`,
  ])('%j is rejected', (header) => {
    expect(parseCredential(header)).toBeUndefined();
  });
});

test('a receipt is base64url-encoded JSON', () => {
  const receipt = {
    status: 'success',
    method: 'lightning',
    timestamp: '2026-03-10T21:00:00Z',
    reference: 'bc230847',
  } as const;
  expect(formatReceipt(receipt)).toBe(
    'eyJzdGF0dXMiOiJzdWNjZXNzIiwibWV0aG9kIjoibGlnaHRuaW5nIiwidGltZXN0YW1wIjoiMjAyNi0wMy0xMFQyMTowMDowMFoiLCJyZWZlcmVuY2UiOiJiYzIzMDg0NyJ9',
  );
});
