import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SentText } from '../../../../src/daemon/upstream/providers/sent-text.ts';

function sent(pieces: readonly string[]): SentText {
  const text = new SentText();
  for (const piece of pieces) text.add(piece);
  return text;
}

const anyPieces = fc.array(fc.string({ maxLength: 40 }), { maxLength: 8 });

test('of a whole text, only what was not sent is missing', () => {
  fc.assert(
    fc.property(anyPieces, fc.string(), (pieces, rest) => {
      expect(sent(pieces).missingOf(pieces.join('') + rest)).toBe(rest);
    }),
  );
});

test('a text that starts otherwise, or is shorter, is another one', () => {
  expect(sent(['One ', 'two']).missingOf('two')).toBeUndefined();
  expect(sent(['One ', 'two']).missingOf('One')).toBeUndefined();
  expect(sent(['One ', 'two']).missingOf('Ten two')).toBeUndefined();
});

test('a piece repeats the text only if that is long', () => {
  expect(sent(['No ', 'No ']).missingOfPiece('No No No')).toBeUndefined();
  const long = ['It rains, ', 'and the wind blows'];
  expect(sent(long).missingOfPiece(`${long.join('')}.`)).toBe('.');
  expect(sent(long).missingOfPiece(long.join(''))).toBe('');
  expect(sent(long).missingOfPiece(' from the west, as it has for some days now.')).toBeUndefined();
});
