import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTokens, takeWords } from '../../../../src/daemon/upstream/simulator/conversation.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const texts = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom('a', ' ', '\n', '🎉') }),
);

test('words and tokens join to the text, and no character is split', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { words, tokens, isCut } = takeWords(text, Number.POSITIVE_INFINITY);
      const parts = words.flatMap((word) => word.tokens);
      expect(words.map((word) => word.text).join('')).toBe(text);
      expect(parts.join('')).toBe(text);
      expect(parts.every((part) => part.isWellFormed()) || !text.isWellFormed()).toBe(true);
      expect([parts.length, isCut]).toEqual([tokens, false]);
      expect(countTokens(text)).toBe(tokens);
    }),
  );
});

test('a limit allows that many tokens', () => {
  fc.assert(
    fc.property(texts, fc.nat({ max: 20 }), (text, most) => {
      const { words, tokens, isCut } = takeWords(text, most);
      expect(tokens).toBe(Math.min(most, countTokens(text)));
      expect(isCut).toBe(most < countTokens(text));
      expect(text.startsWith(words.map((word) => word.text).join(''))).toBe(true);
    }),
  );
});

test('English has about four characters per token', () => {
  const text =
    'The quick brown fox jumps over the lazy dog while the photographer adjusts complicated equipment.';
  expect(text.length / countTokens(text)).toBeGreaterThan(3.5);
  expect(text.length / countTokens(text)).toBeLessThan(5.5);
});
