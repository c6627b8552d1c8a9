import { describe, expect, test } from 'vitest';
import { make } from './make.ts';

describe('values from the prompt', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'number' },
      b: { type: 'number' },
      since: { type: 'string', format: 'date' },
      link: { type: 'string', format: 'uri' },
      level: { enum: ['low', 'high'], default: 'low' },
      dry_run: { type: 'boolean' },
    },
    required: ['a', 'b'],
  };

  test.each([
    ['add 2 and 3.5', { a: 2, b: 3.5 }],
    ['b=7, then 9', { a: 9, b: 7 }],
    [
      '1 and 2 since 2024-05-06 at https://example.com/a?b=c.',
      { a: 1, b: 2, since: '2024-05-06', link: 'https://example.com/a?b=c' },
    ],
    ['1 and 2, HIGH please, dry run: true', { a: 1, b: 2, level: 'high', dry_run: true }],
    ['nothing', { a: 1, b: 1 }],
  ])('%s', (prompt, expected) => {
    expect(make(schema, prompt, 'offered')).toEqual(expected);
  });

  test('text that matches a pattern is used', () => {
    const order = { type: 'object', properties: { order: { type: 'string', pattern: '^ORD-\\d{4}$' } } };
    expect(make(order, 'Where is (ORD-7788)?')).toEqual({ order: 'ORD-7788' });
    expect(make(order, 'Where is ORD-77889?')).toEqual({ order: 'ORD-1234' });
  });

  test('the prompt itself is the search query', () => {
    const search = {
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer', default: 10 } },
      required: ['query', 'limit'],
    };
    expect(make(search, 'who wrote this?')).toEqual({ query: 'who wrote this?', limit: 10 });
  });
});
