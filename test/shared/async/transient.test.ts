import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Listed, TransientList, TransientMap } from '../../../src/shared/async/transient.ts';

test('a list and a map give up what is deleted to the next collection, a map all but its keys', () => {
  const script = fileURLToPath(new URL('../../support/old-growth.ts', import.meta.url));
  const { list, map, left } = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
  const megabyte = 1_000_000;
  expect(list).toBeLessThan(megabyte);
  expect(map).toBeLessThan(5 * megabyte);
  expect(left).toEqual([64, 64]);
});

test('a list contains what was added and not deleted, each once', () => {
  const list = new TransientList<Listed>();
  const [a, b, c] = [{ place: -1 }, { place: -1 }, { place: -1 }];
  for (const member of [a, b, c, a]) list.add(member);
  expect(list.size).toBe(3);
  list.delete(a);
  list.delete(a);
  expect([...list]).toEqual(expect.arrayContaining([b, c]));
  list.delete(c);
  list.add(a);
  expect(new Set(list)).toEqual(new Set([a, b]));
  list.delete(b);
  list.delete(a);
  expect([...list]).toEqual([]);
});

test('a map has the last value of each key until it is deleted', () => {
  const map = new TransientMap<string, { n: number }>();
  map.set('a', { n: 1 });
  map.set('b', { n: 2 });
  map.set('a', { n: 3 });
  expect(map.get('a')).toEqual({ n: 3 });
  expect(map.values()).toEqual([{ n: 3 }, { n: 2 }]);
  map.delete('a');
  map.delete('a');
  expect(map.get('a')).toBeUndefined();
  map.clear();
  expect(map.values()).toEqual([]);
});
