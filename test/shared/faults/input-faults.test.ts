import { expect, test } from 'vitest';
import { wellFormed } from '../../../src/shared/faults/input-faults.ts';

const half = '\ud800';

test.each([undefined, null, 7, '', 'Grüße 🧑‍🚀', { list: ['a', { deep: 'b' }] }])(
  '%j can be stored',
  (value) => {
    expect(wellFormed(value, 'body')).toBe(value);
  },
);

test.each<[unknown, string]>([
  [half, 'body'],
  [['a', `b${half}`], 'body[1]'],
  [{ list: [{ deep: half }] }, 'body.list[0].deep'],
  [{ [half]: 'a' }, 'body'],
])('%j cannot, and its position is named', (value, param) => {
  expect(() => wellFormed(value, 'body')).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      param,
      message: `\`${param}\` is not valid Unicode.`,
    }),
  );
});
