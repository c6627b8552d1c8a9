import { createHash, createHmac } from 'node:crypto';
import { importMacaroon, newMacaroon } from 'macaroon';
import { describe, expect, test } from 'vitest';
import {
  checkToken,
  issueToken,
  l402Credential,
  type TokenGrant,
  tokenKeys,
} from '../../../../src/daemon/features/paywalls/l402.ts';
import {
  decodeMacaroon,
  encodeMacaroon,
  isSignedBy,
  mint,
} from '../../../../src/daemon/features/paywalls/macaroon.ts';

const rootKey = Buffer.alloc(32, 7);
const identifier = Buffer.alloc(66, 3);
const accept = () => null;

describe('macaroons', () => {
  test('are verified by another library, with any caveats', () => {
    for (const caveats of [[], ['a=1'], ['services=weather:0', 'x'.repeat(300), 'ü=✓']]) {
      const bytes = encodeMacaroon(mint(rootKey, identifier, caveats));
      importMacaroon(bytes).verify(rootKey, accept, []);
      expect(() => importMacaroon(bytes).verify(Buffer.alloc(32, 8), accept, [])).toThrow();
    }
  });

  test('of another library are verified, also if their holder added caveats', () => {
    const made = newMacaroon({ version: 2, rootKey, identifier });
    made.addFirstPartyCaveat('services=weather:0');
    made.addFirstPartyCaveat('weather_valid_until=5');
    const read = decodeMacaroon(made.exportBinary());
    expect(read?.caveats).toEqual(['services=weather:0', 'weather_valid_until=5']);
    expect(read && isSignedBy(rootKey, read)).toBe(true);
    expect(read && isSignedBy(rootKey, { ...read, caveats: ['services=weather:0'] })).toBe(false);
  });

  test('that are cut or changed anywhere are not valid, and never throw', () => {
    const bytes = encodeMacaroon(mint(rootKey, identifier, ['a=1', 'b=2']));
    for (let length = 0; length < bytes.length; length += 1)
      expect(decodeMacaroon(bytes.subarray(0, length))).toBeUndefined();
    for (let at = 0; at < bytes.length * 8; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      const read = decodeMacaroon(changed);
      expect(read !== undefined && isSignedBy(rootKey, read)).toBe(false);
    }
  });
});

describe('tokens', () => {
  const rootKeyOf = tokenKeys(Buffer.alloc(32, 1));
  const preimage = 'ab'.repeat(32);
  const paymentHash = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
  const grant: TokenGrant = {
    paywallId: 'pw_1',
    service: 'weather',
    terms: { timeoutSeconds: 60, maxUses: 5, capabilities: ['read', 'write'], constraints: { region: 'eu' } },
    validUntil: 1000,
  };
  const { token, tokenId } = issueToken(rootKeyOf, { paymentHash, random: Buffer.alloc(32, 9), grant });
  /** The token with caveats that its holder added. */
  const narrowed = (...added: string[]) => {
    const macaroon = decodeMacaroon(Buffer.from(token, 'base64'));
    if (!macaroon) throw new Error('the token cannot be read');
    const { identifier: id, caveats } = macaroon;
    const sign = (key: Uint8Array, caveat: string) => createHmac('sha256', key).update(caveat).digest();
    const signature = added.reduce(sign, Buffer.from(macaroon.signature));
    return encodeMacaroon({ identifier: id, caveats: [...caveats, ...added], signature }).toString('base64');
  };
  const check = (given: string, { now = 999, paywallId = 'pw_1' } = {}) =>
    checkToken(rootKeyOf, { token: given, preimage }, { paywallId, service: 'weather', now });

  test('are accepted until they expire, by their paywall alone', () => {
    expect(check(token)).toEqual({
      tokenId,
      paymentHash,
      maxUses: 5,
      capabilities: ['read', 'write'],
      constraints: { region: 'eu' },
    });
    expect(check(token, { now: 1000 })).toBe('expired');
    expect(check(token, { paywallId: 'pw_2' })).toBe('other_paywall');
  });

  test('can be narrowed by their holder, never widened', () => {
    expect(
      check(narrowed('weather_capabilities=read', 'weather_max_uses=2', `preimage=${preimage}`)),
    ).toMatchObject({
      capabilities: ['read'],
      maxUses: 2,
    });
    expect(check(narrowed('weather_max_uses=9'))).toMatchObject({ maxUses: 5 });
    expect(check(narrowed('weather_valid_until=2000'))).toMatchObject({ maxUses: 5 });
    expect(check(narrowed('weather_valid_until=500'))).toBe('expired');
    expect(check(narrowed('weather_capabilities=read,admin'))).toBe('caveat_not_met');
    expect(check(narrowed('weather_region=us'))).toBe('caveat_not_met');
    expect(check(narrowed('paywall=pw_2'))).toBe('other_paywall');
    expect(check(narrowed('services=other:0'))).toBe('other_paywall');
    for (const caveat of ['unknown=1', 'weather_valid_until=soon', 'nonsense', '=1'])
      expect(check(narrowed(caveat))).toBe('caveat_not_met');
  });

  test('are read from headers of either name', () => {
    const credential = { token: 'AgEE', preimage };
    expect(l402Credential(`L402 AgEE:${preimage}`)).toEqual(credential);
    expect(l402Credential(`lsat  AgEE:${preimage}`)).toEqual(credential);
    expect(l402Credential(`L402 AgEE:${preimage}00`)).toBe('malformed');
    expect(l402Credential('L402 ')).toBe('malformed');
    expect(l402Credential(`Bearer AgEE:${preimage}`)).toBeUndefined();
  });
});
