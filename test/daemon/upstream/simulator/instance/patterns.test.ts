import { expect, test } from 'vitest';
import { make } from './make.ts';

test.each([
  ['^[A-Z]{3}-\\d{4}$', 'ABC-4567'],
  ['^(red|green)$', 'red'],
  ['^\\+?[1-9]\\d{1,14}$', undefined],
  ['^#(?:[0-9a-f]{3}){1,2}$', undefined],
  ['^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$', undefined],
  ['^\\w+(?:-\\w+)*$', undefined],
  ['^(?<year>\\d{4})-(?<month>0[1-9]|1[0-2])$', undefined],
  ['^\\p{Lu}\\p{Ll}+$', undefined],
  ['^[\\w.-]{2,}\\/[\\x41-\\x43\\u{44}]?$', undefined],
  ['^.{3,5}$', undefined],
  ['^[a-zA-Z0-9_-]{1,64}$', undefined],
  ['^\\$\\{[^}]*\\}$', undefined],
  ['[0-9]', undefined],
  ['^a|b$', undefined],
])('pattern %s', (pattern, expected) => {
  const text = make({ type: 'string', pattern }) as string;
  expect(text).toMatch(new RegExp(pattern, 'u'));
  if (expected !== undefined) expect(text).toBe(expected);
});

test('text for a lookahead is tried too', () => {
  const email = '^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_.]*)[A-Za-z0-9_]@([A-Za-z0-9-]+\\.)+[A-Za-z]{2,}$';
  expect(make({ type: 'string', format: 'email', pattern: email })).toBe('ada@example.com');
});

test('a pattern and lengths are satisfied together', () => {
  const text = make({ type: 'string', pattern: '^[a-z]+$', minLength: 12, maxLength: 12 }) as string;
  expect(text).toMatch(/^[a-z]{12}$/);
});

test.each(['(a)\\1', '[a-z&&[aeiou]]{', '\\p{Script=Greek}'])(
  'the unsupported pattern %s still gives text',
  (pattern) => {
    expect(typeof make({ type: 'string', pattern })).toBe('string');
  },
);
