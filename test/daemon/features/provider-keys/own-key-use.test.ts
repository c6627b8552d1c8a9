import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOfForm } from '../../../../src/daemon/features/provider-keys/key-forms.ts';
import { OpenedKeys } from '../../../../src/daemon/features/provider-keys/opened-keys.ts';
import { knownProviders, providerFacts } from '../../../../src/shared/known-providers.ts';

test('keys in the clear are overwritten after a minute, when they change, and when there are many', () => {
  let elapsed = 0;
  const opened = new OpenedKeys(() => elapsed);
  const keep = (name: string) => {
    const key = Buffer.from(`sk-${name}`);
    opened.keep(name, key);
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

  const many = Array.from({ length: 100 }, (_, place) => keep(`key ${place}`));
  expect(opened.size).toBe(64);
  expect(many.filter(isGone)).toHaveLength(36);
  opened.forgetAll();
  expect(many.every(isGone)).toBe(true);
});

test('a well-formed key of a provider is taken by it and by no other', () => {
  const rest = fc.stringMatching(/^[A-Za-z0-9_]{20,60}$/);
  const one = fc
    .constantFrom(...knownProviders)
    .chain((provider) =>
      fc.tuple(fc.constant(provider), fc.constantFrom(...providerFacts[provider].keyPrefixes), rest),
    );
  fc.assert(
    fc.property(one, ([provider, prefix, text]) => {
      const takers = knownProviders.filter((other) => faultOfForm(other, prefix + text) === undefined);
      expect(takers).toEqual([provider]);
    }),
  );
});

test('a text that is refused is not repeated', () => {
  fc.assert(
    fc.property(fc.constantFrom(...knownProviders), fc.string({ minLength: 12 }), (provider, text) => {
      const fault = faultOfForm(provider, `${text}\n`);
      expect(fault).toBeDefined();
      expect(fault).not.toContain(text);
    }),
  );
});
