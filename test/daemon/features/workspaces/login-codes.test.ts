import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slugsFor } from '../../../../src/daemon/features/workspaces/slugs.ts';
import { generateCode, normaliseCode } from '../../../../src/daemon/features/workspaces/typed-codes.ts';
import { anyCharacter } from '../../../support/any-character.ts';

test('a code has groups of five unambiguous characters', () => {
  const codes = Array.from({ length: 200 }, () => generateCode(2, randomBytes));
  for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  expect(new Set(codes).size).toBe(200);
  expect(generateCode(4, randomBytes)).toMatch(/^(\w{5}-){3}\w{5}$/);
});

test('a code is normalised however it was typed', () => {
  const typed = ['7K3QM-9XWZ2', '7k3qm9xwz2', ' 7K3QM 9XWZ2\n', '7k3-qm-9xwz2'];
  expect(new Set(typed.map(normaliseCode))).toEqual(new Set(['7K3QM9XWZ2']));
  expect(normaliseCode('OIL0-oil')).toBe('0110011');
});

test('normalising does not change a generated code', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      const code = generateCode(4, () => bytes);
      expect(normaliseCode(code)).toBe(code.replaceAll('-', ''));
    }),
  );
});

test('every name gives valid slugs, none of them `me`', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), (name) => {
      const slugs = slugsFor(name, randomBytes);
      expect(slugs.length).toBeGreaterThan(1);
      for (const slug of slugs) {
        expect(slug).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
        expect(slug.length).toBeLessThanOrEqual(48);
        expect(slug).not.toBe('me');
      }
    }),
  );
  expect(slugsFor('me', randomBytes)[0]).toMatch(/^me-\w{4}$/);
  expect(slugsFor('Zoë & Söhne', randomBytes)[0]).toBe('zoe-sohne');
  expect(slugsFor('日本', randomBytes)[0]).toBe('workspace');
});
