import { expect, test } from 'vitest';
import { RecentMap } from '../../src/shared/recent-map.ts';

test('a full map evicts the entry that was added first', () => {
  const map = new RecentMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3);
  expect([...map]).toEqual([
    ['a', 3],
    ['b', 2],
  ]);
  map.set('c', 4);
  expect([...map.keys()]).toEqual(['b', 'c']);
});

test('an entry that is deleted and set again is the latest', () => {
  const map = new RecentMap<string, number>(2);
  map.set('a', 1).set('b', 2);
  map.delete('a');
  map.set('a', 1).set('c', 3);
  expect([...map.keys()]).toEqual(['a', 'c']);
});

test('evictable keys may be empty or undefined', () => {
  const map = new RecentMap<string | undefined, number>(1);
  map.set('', 1).set(undefined, 2).set('b', 3);
  expect([...map.keys()]).toEqual(['b']);
});
