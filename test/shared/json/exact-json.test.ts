import { describe, expect, test } from 'vitest';
import { parseExactly, parseWithExactValues } from '../../../src/shared/json/json-text.ts';

describe('the values of a schema', () => {
  test.each([
    '{"const":9007199254740993}',
    '{"enum":["a",9007199254740993,-9007199254740993,5]}',
    '{"properties":{"id":{"enum":[123456789012345678901234567890]}}}',
  ])('in %s keep all digits', (text) => {
    expect(JSON.stringify(parseWithExactValues(text))).toBe(text);
  });

  test.each([
    '{"type":"tool_use","input":{"id":9007199254740993,"of":[{"id":-2512292042121000001}]}}',
    '{"function":{"name":"f","arguments":{"id":9007199254740993}}}',
  ])('in %s, which is a call, keep all digits', (text) => {
    expect(JSON.stringify(parseWithExactValues(text))).toBe(text);
  });

  test('leave all other numbers as they are', () => {
    const text =
      '{"enum":[1,2.5],"const":0.1234567890123456789,"max":9007199254740993,"input":[9007199254740993,1]}';
    expect(parseWithExactValues(text)).toEqual(JSON.parse(text));
  });

  test('fail for what is not JSON', () => {
    expect(() => parseWithExactValues('{"const":9007199254740993')).toThrow(SyntaxError);
  });
});

test('every number can keep all digits', () => {
  const text = '{"id":9007199254740993,"of":[0.1234567890123456789,1.50],"n":5}';
  expect(JSON.stringify(parseExactly(text))).toBe(text);
});
