/**
 * Prints by how many bytes the old generation grows while members of a `TransientList` and of a `TransientMap` come and go, as JSON. A
 * process of its own: what else a heap holds decides when V8 promotes objects.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { type Listed, TransientList, TransientMap } from '../../src/shared/async/transient.ts';
import { collectGarbage } from './collect-garbage.ts';

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
      if (step % 500 === 0) collectGarbage({ type: 'minor' });
    }
  };
  steps(0, 1_000);
  // The collection is old by now.
  collectGarbage();
  const before = oldBytes();
  steps(1_000, 21_000);
  return oldBytes() - before;
}

const list = new TransientList<Member>();
const map = new TransientMap<string, Member>();
const grown = {
  list: growth(
    (member) => list.add(member),
    (member) => list.delete(member),
  ),
  map: growth(
    (member, id) => map.set(id, member),
    (_, id) => map.delete(id),
  ),
};
process.stdout.write(JSON.stringify({ ...grown, left: [list.size, map.values().length] }));
