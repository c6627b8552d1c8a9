import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hintOf, makeSecret, parseSecret, type SecretKind, secretLength } from '../../src/shared/secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const anyKind = fc.constantFrom<SecretKind>('api', 'login', 'token', 'agent');

/** Random bytes that start as fast-check chose, so that a failure can be shrunk. */
function bytesFrom(chosen: Uint8Array) {
  let used = 0;
  return (count: number) => Uint8Array.from({ length: count }, () => chosen[used++] ?? (used * 7919) % 248);
}

const anySecret = fc
  .tuple(anyKind, fc.uint8Array({ minLength: 32, maxLength: 64 }))
  .map(([kind, bytes]) => ({ kind, secret: makeSecret(kind, bytesFrom(bytes)) }));

describe('a secret', () => {
  test('has the published form and reveals its kind', () => {
    fc.assert(
      fc.property(anySecret, ({ kind, secret }) => {
        expect(secret).toMatch(/^gw[klta]_[0-9A-Za-z]{38}$/);
        expect(secret).toHaveLength(secretLength);
        expect(parseSecret(secret)).toBe(kind);
      }),
    );
  });

  test.each([
    ['api', 'gwk_'],
    ['login', 'gwl_'],
    ['token', 'gwt_'],
    ['agent', 'gwa_'],
  ] as const)('of kind %s starts with %s', (kind, prefix) => {
    expect(makeSecret(kind, randomBytes).startsWith(prefix)).toBe(true);
  });

  test('ends with the CRC32 of the rest in base 62', () => {
    fc.assert(
      fc.property(anySecret, ({ secret }) => {
        const written = [...secret.slice(-6)].reduce((sum, char) => sum * 62 + alphabet.indexOf(char), 0);
        expect(written).toBe(crc32(secret.slice(0, -6)));
      }),
    );
  });

  test('is not recognized when any character changes', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.nat({ max: secretLength - 1 }),
        fc.string({ minLength: 1, maxLength: 1 }),
        (made, at, other) => {
          fc.pre(made.secret[at] !== other);
          const damaged = made.secret.slice(0, at) + other + made.secret.slice(at + 1);
          expect(parseSecret(damaged)).toBeUndefined();
        },
      ),
    );
  });

  test('is not recognized when cut, lengthened or padded', () => {
    const secret = makeSecret('api', randomBytes);
    for (const text of ['', 'gwk_', secret.slice(0, -1), `${secret}0`, ` ${secret}`, `${secret}\n`]) {
      expect(parseSecret(text)).toBeUndefined();
    }
  });

  test('parsing accepts any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii', maxLength: 100 }),
        (text) => parseSecret(text) === undefined,
      ),
    );
  });

  test('uses every character equally often', () => {
    const seen = new Map<string, number>();
    const rounds = 2000;
    let draws = 0;
    const hashed = (count: number) => hash('sha512', String(draws++), 'buffer').subarray(0, count);
    for (let i = 0; i < rounds; i += 1) {
      for (const char of makeSecret('api', hashed).slice(4, 36)) seen.set(char, (seen.get(char) ?? 0) + 1);
    }
    const expected = (rounds * 32) / 62;
    // Chi-squared with 61 degrees of freedom: a plain remainder of bytes would reach several hundred.
    const chiSquared = [...alphabet].reduce(
      (sum, char) => sum + ((seen.get(char) ?? 0) - expected) ** 2 / expected,
      0,
    );
    expect(chiSquared).toBeLessThan(110);
  });

  test('skips bytes that would favor some characters', () => {
    const biased = makeSecret('api', bytesFrom(Uint8Array.from([255, 250, 248, ...new Uint8Array(32)])));
    expect(biased.slice(4, 36)).toBe('0'.repeat(32));
  });
});

test('a hint shows the prefix, four characters and the last four', () => {
  const secret = makeSecret('api', randomBytes);
  expect(hintOf(secret)).toBe(`${secret.slice(0, 8)}…${secret.slice(38)}`);
});
