import { describe, expect, test } from 'vitest';
import { groupDigits } from '../../../src/shared/text/group-digits.ts';
import { trimBoth, trimEnd } from '../../../src/shared/text/trim-text.ts';

describe('trimEnd and trimBoth', () => {
  test.each([
    ['https://a.example//', '/', 'https://a.example', 'https://a.example'],
    ['/a/', '/', '/a', 'a'],
    ['"A".', '."', '"A', 'A'],
    ['...', '.', '', ''],
    ['', '.', '', ''],
  ])('%j without %j', (text, characters, end, both) => {
    expect(trimEnd(text, characters)).toBe(end);
    expect(trimBoth(text, characters)).toBe(both);
  });
});

describe('groupDigits', () => {
  test.each([
    ['0', '0'],
    ['999', '999'],
    ['1000', '1,000'],
    ['123456', '123,456'],
    ['-1234567', '-1,234,567'],
  ])('%s is %s', (number, grouped) => {
    expect(groupDigits(number)).toBe(grouped);
  });
});
