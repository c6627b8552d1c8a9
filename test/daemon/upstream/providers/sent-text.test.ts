import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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

describe('a piece repeats the text', () => {
  const said = 'It rains, and the wind blows';

  test('if the second is longer than the first, and so are all that follow', () => {
    const text = new SentText();
    for (const [piece, added] of [
      [said, undefined],
      [`${said} hard`, ' hard'],
      [`${said} hard today`, ' today'],
      [`${said} hard today`, ''],
      ['.', undefined],
      [`${said} hard today.`, undefined],
    ] as const) {
      const missing = text.missingOfPiece(piece);
      expect(missing).toBe(added);
      text.add(missing ?? piece);
    }
  });

  test.each([
    ['short', ['No ', 'No No No']],
    ['an equal line', ['| Row | 1 | 2 | 3 |\n', '| Row | 1 | 2 | 3 |\n']],
    ['a ruler', ['-'.repeat(16), '-'.repeat(40)]],
    ['a line that comes again and again', ['Row 1 | Row 1 | ', 'Row 1 | Row 1 | Row 1 |']],
    ['what came later', ['It rains, ', 'and the wind blows', `${said} again`]],
    ['other words', [said, ' from the west, as it has for some days now.']],
  ])('but not %s', (_what, pieces) => {
    const last = pieces.pop() as string;
    const text = new SentText();
    for (const piece of pieces) {
      text.missingOfPiece(piece);
      text.add(piece);
    }
    expect(text.missingOfPiece(last)).toBeUndefined();
  });

  test('if it is the last, and all of the answer', () => {
    const text = sent(['It rains, ', 'and the wind blows']);
    expect(text.missingOfPiece(`${said}.`, { isLast: true })).toBe('.');
    expect(text.missingOfPiece(said, { isLast: true })).toBe('');
    expect(text.missingOfPiece(' hard.', { isLast: true })).toBeUndefined();
    expect(sent(['No ', 'No ']).missingOfPiece('No No No', { isLast: true })).toBeUndefined();
  });
});
