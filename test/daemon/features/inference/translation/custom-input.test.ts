import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  argumentsOf,
  CustomInputReader,
} from '../../../../../src/daemon/features/inference/translation/custom-input.ts';
import { anyCharacter } from '../../../../support/any-character.ts';

function read(pieces: readonly string[]): string {
  const reader = new CustomInputReader();
  return pieces.map((piece) => reader.push(piece)).join('') + reader.end();
}

const anyText = fc.string({ unit: anyCharacter });

test('any text is read back, wherever its arguments are split', () => {
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(400), { maxLength: 8 }), (text, cuts) => {
      const args = argumentsOf(text);
      const at = [0, ...cuts.map((cut) => cut % (args.length + 1)).sort((a, b) => a - b), args.length];
      expect(read(at.slice(1).map((end, index) => args.slice(at[index], end)))).toBe(text);
    }),
  );
});

test('the text is available before the arguments are complete', () => {
  const reader = new CustomInputReader();
  expect(reader.push('{ "inp')).toBe('');
  expect(reader.push('ut": "*** Beg')).toBe('*** Beg');
  expect(reader.push('in\\n')).toBe('in\n');
  expect(reader.push('done"}')).toBe('done');
  expect(reader.end()).toBe('');
});

test.each([
  ['', ''],
  ['{}', ''],
  ['{"patch":"*** Begin"}', '*** Begin'],
  ['"*** Begin"', '*** Begin'],
  ['*** Begin', '*** Begin'],
  ['{"note":1,"input":"*** Begin"}', '*** Begin'],
  ['{"a":"1","b":"2"}', '{"a":"1","b":"2"}'],
  [`{"patch":"${'x'.repeat(200)}"}`, 'x'.repeat(200)],
])('arguments in another form, %s, become %s', (args, text) => {
  expect(read([args])).toBe(text);
});
