import { expect, test } from 'vitest';
import { callerDetails, publicWords } from '../../../../src/daemon/upstream/providers/provider-words.ts';

test('a quotation is left out, also one that does not end', () => {
  expect(publicWords('messages: "my secret \\" plan" is not "max_tokens"')).toBe(
    'messages: "…" is not "max_tokens"',
  );
  expect(publicWords('unexpected text "my secret plan')).toBe('unexpected text "…"');
  expect(publicWords('unexpected text "my secret plan\\')).toBe('unexpected text "…"');
});

test.each([
  ['escaped quotation marks', '\\"'],
  ['quotation marks', '"'],
  ['the beginning of a known sentence', 'input token count '],
  ['what looks like keys', 'sk-'],
])('words full of %s take no time: a provider may quote what callers write', (_what, piece) => {
  const words = piece.repeat(64_000 / piece.length);
  const startedAt = performance.now();
  callerDetails(400, words);
  expect(performance.now() - startedAt).toBeLessThan(100);
});
