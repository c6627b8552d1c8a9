import { expect, test } from 'vitest';
import { readValue, sentForm } from '../../../../src/daemon/storage/postgres/engine/values.ts';

test.each(['plain', 'a\0b', '\0', '\uFDD0', 'a\uFDD00\0\uFDD01b'])(
  'the text %j is read as it was written',
  (text) => {
    const sent = sentForm(text) as string;
    // A text of the server cannot have it.
    expect(sent).not.toContain('\0');
    expect(readValue(sent, 25)).toBe(text);
  },
);

test.each([
  [16, 't', 1],
  [16, 'f', 0],
  [20, '9007199254740991', Number.MAX_SAFE_INTEGER],
  [1700, '12', 12],
  [701, '1.5', 1.5],
  [25, '12', '12'],
  [25, null, null],
])('a value of type %i is read from %s', (type, text, value) => {
  expect(readValue(text, type)).toBe(value);
});

test('bytes are read as they were sent', () => {
  const bytes = Buffer.from([0, 1, 255]);
  expect(sentForm(bytes)).toEqual(bytes);
  expect(readValue(`\\x${bytes.toString('hex')}`, 17)).toEqual(bytes);
});
