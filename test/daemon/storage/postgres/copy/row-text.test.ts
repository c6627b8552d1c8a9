import { expect, test } from 'vitest';
import { lineOf, valuesOf } from '../../../../../src/daemon/storage/postgres/copy/row-text.ts';

/** As `SELECT number::float8::text` writes them. */
test.each([
  [0, '0'],
  [0.0001, '0.0001'],
  [0.00012, '0.00012'],
  [0.00009, '9e-05'],
  [1.5e-7, '1.5e-07'],
  [-0.25, '-0.25'],
  [999999999999999, '999999999999999'],
  [1e15, '1e+15'],
  [1.25e100, '1.25e+100'],
])('the fraction %d is written as PostgreSQL does', (value, text) => {
  expect(lineOf([value], ['REAL'])).toBe(`${text}\n`);
  expect(valuesOf(text, ['REAL'])).toEqual([value]);
});
