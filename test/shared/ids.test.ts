import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { idMaker } from '../../src/shared/ids.ts';

test('ids are unique, and sort by creation also within a millisecond', () => {
  let now = 1_763_800_000_000;
  const makeId = idMaker(() => now, randomBytes);
  const ids: string[] = [];
  for (let at = 0; at < 3; at += 1) {
    for (let turn = 0; turn < 5000; turn += 1) ids.push(makeId('run'));
    now += 1;
  }
  expect(ids[0]).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test('ids sort by creation even if the random bytes are all ones', () => {
  const makeId = idMaker(
    () => 0,
    (count) => new Uint8Array(count).fill(255),
  );
  const ids = Array.from({ length: 2000 }, () => makeId('req'));
  expect(ids.toSorted()).toEqual(ids);
});
