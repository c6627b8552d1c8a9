import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { importMacaroon, newMacaroon } from 'macaroon';
import { describe, expect, test } from 'vitest';
import {
  checkToken,
  issueToken,
  l402Credential,
  type TokenProblem,
  tokenKeys,
} from '../../../../src/daemon/features/paywalls/l402.ts';
import { isSignedBy, mint } from '../../../../src/daemon/features/paywalls/macaroon.ts';
import type { TokenTerms } from '../../../../src/daemon/features/paywalls/store.ts';
import { decodeMacaroon, encodeMacaroon } from '../../../../src/shared/payments/macaroon.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { appendCaveats } from '../../../support/append-caveats.ts';

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
  const issue = (terms: Partial<TokenTerms>) => {
    const bare = { timeoutSeconds: 60, maxUses: 1, capabilities: [], constraints: {} };
    const grant = { paywallId: 'pw_1', service: 'weather', terms: { ...bare, ...terms }, validUntil: 1000 };
    return issueToken(rootKeyOf, { paymentHash, random: Buffer.alloc(32, 9), grant });
  };
  const check = (given: string, { now = 999, paywallId = 'pw_1' } = {}) =>
    checkToken(rootKeyOf, { token: given, preimage }, { paywallId, service: 'weather', now });

  test('are accepted until they expire, by their paywall alone', () => {
    const terms = { maxUses: 5, capabilities: ['read', 'write'], constraints: { region: 'eu' } };
    const { token, tokenId } = issue(terms);
    expect(check(token)).toEqual({ tokenId, paymentHash, ...terms });
    expect(check(token, { now: 1000 })).toBe('expired');
    expect(check(token, { paywallId: 'pw_2' })).toBe('other_paywall');
  });

  describe('can be narrowed by their holder, never widened', () => {
    const kinds = {
      bare: {},
      unlimited: { maxUses: null },
      capable: { capabilities: ['read', 'write'] },
      constrained: { constraints: { tier: 'silver', region: 'eu' } },
      full: { maxUses: 5, capabilities: ['read', 'write'], constraints: { tier: 'silver' } },
    } satisfies Record<string, Partial<TokenTerms>>;
    type Kind = keyof typeof kinds;
    type Expected = TokenProblem | 'unchanged' | Partial<TokenTerms>;
    const same = 'unchanged';
    const unmet = 'caveat_not_met';

    test.each<[caveats: string[], each: Expected, except?: Partial<Record<Kind, Expected>>]>([
      [[], same],
      [['weather_capabilities=admin'], unmet],
      [
        ['weather_capabilities=read'],
        unmet,
        { capable: { capabilities: ['read'] }, full: { capabilities: ['read'] } },
      ],
      [['weather_capabilities=read,write'], unmet, { capable: same, full: same }],
      [['weather_capabilities=read,admin'], unmet],
      [['weather_capabilities=read,'], unmet],
      [['weather_capabilities='], unmet],
      [['weather_capabilities= read'], unmet],
      [['weather_capabilities=read\r\nx-admin: 1'], unmet],
      [['weather_capabilities=read', 'weather_capabilities=write'], unmet],
      [['weather_valid_until=2000', 'weather_capabilities=admin'], unmet],
      [['weather_tier=silver'], unmet, { constrained: same, full: same }],
      [['weather_tier=gold'], unmet],
      [['weather_tier=silver', 'weather_tier=gold'], unmet],
      [['weather_tier=silver,tier=gold'], unmet],
      [['weather_scope=x,tier=gold'], unmet],
      [['weather_scope=x'], unmet],
      [['weather_tier=silver\n'], unmet],
      [['weather_Tier=silver'], unmet],
      [['weather_='], unmet],
      [['weather_constructor=x'], unmet],
      [['weather___proto__=x'], unmet],
      [['weather_timeout=1'], unmet],
      [['weather_max_uses=1'], { maxUses: 1 }],
      [['weather_max_uses=0'], { maxUses: 0 }],
      [['weather_max_uses=9'], same, { unlimited: { maxUses: 9 } }],
      [
        ['weather_max_uses=2', 'weather_max_uses=9'],
        same,
        { unlimited: { maxUses: 2 }, full: { maxUses: 2 } },
      ],
      [['weather_max_uses=-1'], unmet],
      [['weather_max_uses=1e9'], unmet],
      [['weather_max_uses='], unmet],
      [['weather_max_uses=null'], unmet],
      [['weather_valid_until=2000'], same],
      [['weather_valid_until=500'], 'expired'],
      [['weather_valid_until=2000', 'weather_valid_until=500'], 'expired'],
      [['weather_valid_until=soon'], unmet],
      [['weather_valid_until='], unmet],
      [['services=weather:0'], same],
      [['services=other:0,weather:0'], same],
      [['services=other:0'], 'other_paywall'],
      [['services=weather:1'], 'other_paywall'],
      [['services='], 'other_paywall'],
      [['paywall=pw_1'], same],
      [['paywall=pw_2'], 'other_paywall'],
      [['paywall=pw_1,pw_2'], 'other_paywall'],
      [[`preimage=${preimage}`], same],
      [['preimage=a\u0000b'], unmet],
      [['preimage=ü'], unmet],
      [['other_capabilities=read'], unmet],
      [['unknown=1'], unmet],
      [['nonsense'], unmet],
      [['=1'], unmet],
      [[''], unmet],
    ])('%j', (caveats, each, except = {}) => {
      for (const kind of Object.keys(kinds) as Kind[]) {
        const { token, tokenId } = issue(kinds[kind]);
        const issued = {
          tokenId,
          paymentHash,
          maxUses: 1,
          capabilities: [],
          constraints: {},
          ...kinds[kind],
        };
        const expected = except[kind] ?? each;
        const change = expected === same ? {} : expected;
        expect([kind, check(appendCaveats(token, caveats))]).toEqual([
          kind,
          typeof change === 'string' ? change : { ...issued, ...change },
        ]);
      }
    });

    const name = fc.constantFrom('capabilities', 'max_uses', 'valid_until', 'tier', 'region', 'scope', '');
    const prefix = fc.constantFrom('weather_', 'other_', '', 'services', 'paywall', 'preimage');
    const value = fc.oneof(
      fc.constantFrom(
        'read',
        'write',
        'admin',
        'silver',
        'gold',
        'eu',
        'pw_1',
        'weather:0',
        '1',
        '7',
        '2000',
      ),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
    );
    const caveat = fc
      .tuple(prefix, name, fc.constantFrom('=', '=', '=', '', '=='), fc.array(value, { maxLength: 3 }))
      .map(([first, rest, equals, values]) => first + rest + equals + values.join(','));

    test.each(Object.keys(kinds) as Kind[])('a token that is %s, by any caveats', (kind) => {
      const issued = { maxUses: 1, capabilities: [], constraints: {}, ...kinds[kind] };
      const { token } = issue(kinds[kind]);
      fc.assert(
        fc.property(fc.array(caveat, { maxLength: 4 }), (caveats) => {
          const found = check(
            appendCaveats(
              token,
              caveats.map((each) => each.toWellFormed()),
            ),
          );
          if (typeof found === 'string') return;
          expect(found.constraints).toEqual(issued.constraints);
          for (const each of found.capabilities) expect(issued.capabilities).toContain(each);
          expect(found.maxUses ?? Infinity).toBeLessThanOrEqual(issued.maxUses ?? Infinity);
        }),
        { numRuns: 500 },
      );
    });
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
