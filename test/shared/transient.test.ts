import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type Listed, TransientList, TransientMap } from '../../src/shared/transient.ts';

setFlagsFromString('--expose-gc');
const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc');
setFlagsFromString('--no-expose-gc');

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
}

interface Member extends Listed {
  payload: number[];
}

/** By how many bytes the old generation grows while 20,000 members of 1 KB come and go, 64 at a time; a `Set` makes it grow by all. */
function growth(
  add: (member: Member, id: string) => void,
  remove: (member: Member, id: string) => void,
): number {
  const present: [Member, string][] = [];
  const steps = (from: number, to: number) => {
    for (let step = from; step < to; step += 1) {
      const member = { place: -1, payload: new Array(128).fill(step) };
      const id = `call-${step}`;
      add(member, id);
      present.push([member, id]);
      const first = present.length > 64 ? present.shift() : undefined;
      if (first) remove(...first);
      if (step % 500 === 0) collect({ type: 'minor' });
    }
  };
  steps(0, 1_000);
  // The collection is old by now.
  collect();
  const before = oldBytes();
  steps(1_000, 21_000);
  return oldBytes() - before;
}

const megabyte = 1_000_000;

test('a list gives up what is deleted to the next collection', () => {
  const list = new TransientList<Member>();
  expect(
    growth(
      (member) => list.add(member),
      (member) => list.delete(member),
    ),
  ).toBeLessThan(megabyte);
  expect(list.size).toBe(64);
});

test('a map gives up all but the keys of what is deleted to the next collection', () => {
  const map = new TransientMap<string, Member>();
  expect(
    growth(
      (member, id) => map.set(id, member),
      (_, id) => map.delete(id),
    ),
  ).toBeLessThan(5 * megabyte);
  expect(map.values()).toHaveLength(64);
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
