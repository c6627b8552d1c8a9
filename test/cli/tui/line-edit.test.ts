import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editBy, editOf, emptyEdit, type LineEdit } from '../../../src/cli/tui/text/line-edit.ts';

function press(edit: LineEdit, ...keys: string[]): LineEdit {
  return keys.reduce((now, key) => editBy(now, key, key.length === 1 ? key : '') ?? now, edit);
}

/** The text with the cursor as `|`. */
function seen({ text, cursor }: LineEdit): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test.each([
  ['ctrl-a', '|one two-three'],
  ['ctrl-e', 'one two-three|'],
  ['ctrl-b', 'one two-thre|e'],
  ['alt-b', 'one two-|three'],
  ['ctrl-h', 'one two-thre|'],
  ['ctrl-w', 'one |'],
  ['alt-backspace', 'one two-|'],
  ['ctrl-u', '|'],
])('%s at the end of a line leaves %s', (key, wanted) => {
  expect(seen(press(editOf('one two-three'), key))).toBe(wanted);
});

test('what was cut comes back with Ctrl-Y', () => {
  const cut = press(editOf('one two'), 'ctrl-w', 'ctrl-a', 'ctrl-y');
  expect(seen(cut)).toBe('two|one ');
  expect(seen(press(editOf('one two'), 'ctrl-a', 'alt-f', 'ctrl-k'))).toBe('one|');
});

test('Ctrl-T swaps the two characters before the end', () => {
  expect(seen(press(editOf('teh'), 'ctrl-t'))).toBe('the|');
});

test('keys of a line stay in their line where there are several', () => {
  expect(seen(press(editOf('one\ntwo'), 'ctrl-a'))).toBe('one\n|two');
  expect(seen(press(editOf('one\ntwo'), 'ctrl-u'))).toBe('one\n|');
  expect(seen(press({ ...editOf('one\ntwo'), cursor: 3 }, 'ctrl-k'))).toBe('one|two');
});

test('a character that people see as one is taken as one', () => {
  for (const character of ['👨‍👩‍👧', 'é', '🇨🇭']) {
    expect(seen(press(editOf(`a${character}`), 'backspace'))).toBe('a|');
    expect(seen(press(editOf(`a${character}`), 'ctrl-b'))).toBe(`a|${character}`);
  }
});

test('what steers terminals is not written', () => {
  expect(editBy(emptyEdit, 'a\u001bb', 'a\u001bb')?.text).toBe('ab');
});

test('the cursor never leaves the text, whatever is pressed', () => {
  const keys = [
    'ctrl-a',
    'ctrl-e',
    'ctrl-b',
    'ctrl-f',
    'ctrl-h',
    'ctrl-d',
    'ctrl-k',
    'ctrl-u',
    'ctrl-w',
    'ctrl-y',
  ];
  const more = ['ctrl-t', 'alt-b', 'alt-f', 'alt-d', 'alt-backspace', 'space', 'x', '\n', 'ü'];
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom(...keys, ...more)),
      (text, pressed) => {
        let edit = editOf(text);
        for (const key of pressed) {
          edit = press(edit, key);
          expect(edit.cursor).toBeGreaterThanOrEqual(0);
          expect(edit.cursor).toBeLessThanOrEqual(edit.text.length);
        }
      },
    ),
    { numRuns: 200 },
  );
});
