import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OpenedKeys } from '../../../../src/daemon/features/provider-keys/opened-keys.ts';
import { keyFormatFault } from '../../../../src/daemon/features/provider-keys/provider-keys.ts';
import { knownProviders, providerFacts } from '../../../../src/shared/known-providers.ts';

test('decrypted keys are overwritten after a minute, when they change, and beyond the limit', () => {
  let elapsed = 0;
  const opened = new OpenedKeys(() => elapsed);
  const keep = (name: string) => {
    const key = Buffer.from(`sk-${name}`);
    opened.set(name, key);
    return key;
  };
  const isGone = (key: Buffer) => key.every((byte) => byte === 0);
  const first = keep('first');
  elapsed = 59_999;
  expect(opened.get('first')).toBe('sk-first');
  elapsed = 60_000;
  expect(opened.get('first')).toBeUndefined();
  expect(isGone(first)).toBe(true);

  const before = keep('same');
  const after = keep('same');
  expect(isGone(before)).toBe(true);
  expect(opened.get('same')).toBe('sk-same');
  opened.forget('same');
  expect(isGone(after)).toBe(true);

  const many = Array.from({ length: 100 }, (_, index) => keep(`key ${index}`));
  expect(many.filter(isGone)).toHaveLength(36);
  opened.forgetAll();
  expect(many.every(isGone)).toBe(true);
});

test('a well-formed key is accepted for its own provider only', () => {
  const rest = fc.stringMatching(/^[A-Za-z0-9_]{20,60}$/);
  const one = fc
    .constantFrom(...knownProviders)
    .chain((provider) =>
      fc.tuple(fc.constant(provider), fc.constantFrom(...providerFacts[provider].keyPrefixes), rest),
    );
  fc.assert(
    fc.property(one, ([provider, prefix, text]) => {
      const takers = knownProviders.filter((other) => keyFormatFault(other, prefix + text) === undefined);
      expect(takers).toEqual([provider]);
    }),
  );
});

test('errors do not repeat the text', () => {
  fc.assert(
    fc.property(fc.constantFrom(...knownProviders), fc.string({ minLength: 12 }), (provider, text) => {
      const fault = keyFormatFault(provider, `${text}\n`);
      expect(fault).toBeDefined();
      expect(fault).not.toContain(text);
    }),
  );
});
