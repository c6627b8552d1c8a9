import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyKey,
  editOf,
  emptyEdit,
  type LineEdit,
  lineDown,
  lineUp,
} from '../../../../src/cli/tui/text/line-edit.ts';

function press(edit: LineEdit, ...keys: string[]): LineEdit {
  return keys.reduce((now, key) => applyKey(now, key, key.length === 1 ? key : '') ?? now, edit);
}

/** The text with `|` at the cursor. */
function shown({ text, cursor }: LineEdit): string {
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
])('%s at the end of a line gives %s', (key, wanted) => {
  expect(shown(press(editOf('one two-three'), key))).toBe(wanted);
});

test('the lines above and below are entered between characters, not within one', () => {
  const edit = editOf('😀😀\na\n👩‍👩‍👧x');
  const middle = { ...edit, cursor: edit.text.indexOf('a') + 1 };
  expect([lineUp(middle), lineDown(middle)].map((moved) => moved && shown(moved))).toEqual([
    '|😀😀\na\n👩‍👩‍👧x',
    '😀😀\na\n|👩‍👩‍👧x',
  ]);
});

test('a shorter line above or below is entered at its end', () => {
  const edit = editOf('ab\nlonger\nabc');
  const middle = { ...edit, cursor: edit.text.indexOf('r') };
  expect([lineUp(middle), lineDown(middle)].map((moved) => moved && shown(moved))).toEqual([
    'ab|\nlonger\nabc',
    'ab\nlonger\nabc|',
  ]);
});

test('Ctrl-Y pastes the last cut', () => {
  const cut = press(editOf('one two'), 'ctrl-w', 'ctrl-a', 'ctrl-y');
  expect(shown(cut)).toBe('two|one ');
  expect(shown(press(editOf('one two'), 'ctrl-a', 'alt-f', 'ctrl-k'))).toBe('one|');
});

test('Ctrl-T swaps the last two characters', () => {
  expect(shown(press(editOf('teh'), 'ctrl-t'))).toBe('the|');
});

test('line keys act on the current line of several', () => {
  expect(shown(press(editOf('one\ntwo'), 'ctrl-a'))).toBe('one\n|two');
  expect(shown(press(editOf('one\ntwo'), 'ctrl-u'))).toBe('one\n|');
  expect(shown(press({ ...editOf('one\ntwo'), cursor: 3 }, 'ctrl-k'))).toBe('one|two');
});

test('a grapheme is deleted and skipped as a whole', () => {
  for (const character of ['👨‍👩‍👧', 'é', '🇨🇭']) {
    expect(shown(press(editOf(`a${character}`), 'backspace'))).toBe('a|');
    expect(shown(press(editOf(`a${character}`), 'ctrl-b'))).toBe(`a|${character}`);
  }
});

test('control characters are not typed', () => {
  expect(applyKey(emptyEdit, 'a\u001bb', 'a\u001bb')?.text).toBe('ab');
});

test('no key moves the cursor out of the text', () => {
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
