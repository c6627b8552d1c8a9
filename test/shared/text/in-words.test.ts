import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inWords } from '../../../src/shared/text/in-words.ts';

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a or b'],
  [['a', 'b', 'c'], 'a, b or c'],
])('%j is %s', (parts, words) => {
  expect(inWords(parts)).toBe(words);
});

test('takes another conjunction', () => {
  expect(inWords(['a', 'b', 'c'], 'and')).toBe('a, b and c');
});

test('no other list of words repeats its conjunction', async () => {
  const files = await readdir('src', { recursive: true });
  for (const file of files.filter((name) => /\.tsx?$/.test(name))) {
    expect(await readFile(join('src', file), 'utf8'), file).not.toMatch(/\.join\(' (or|and) '\)/);
  }
});
