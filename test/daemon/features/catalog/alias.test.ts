import { expect, test } from 'vitest';
import { modelsInOrder } from '../../../../src/daemon/features/catalog/alias.ts';

const texts = Array.from({ length: 4_000 }, (_, index) => `conversation ${index}`);

test('each model of a weighted alias is first for its share, and all models follow', () => {
  const target = { a: 5, b: 3, c: 2 };
  const counts = { a: 0, b: 0, c: 0 };
  for (const text of texts) {
    const [first] = modelsInOrder(target, text);
    counts[first as 'a'] += 1;
  }
  expect([...modelsInOrder(target, 'any')].sort()).toEqual(['a', 'b', 'c']);
  expect(counts.a / texts.length).toBeCloseTo(0.5, 1);
  expect(counts.b / texts.length).toBeCloseTo(0.3, 1);
  expect(counts.c / texts.length).toBeCloseTo(0.2, 1);
});

test('a new model takes over only its own share', () => {
  const moved = texts.filter((text) => {
    const [before] = modelsInOrder({ a: 1, b: 1 }, text);
    const [after] = modelsInOrder({ a: 1, b: 1, c: 1 }, text);
    return after !== before && after !== 'c';
  });
  expect(moved).toEqual([]);
});
