import { expect, test } from 'vitest';
import { CallSlots } from '../../../../src/daemon/features/concurrency/call-slots.ts';
import { SharedSlots } from '../../../../src/daemon/features/concurrency/shared-slots.ts';
import { type SlotLimit, SlotTable } from '../../../../src/daemon/features/concurrency/slot-table.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const limit: SlotLimit = { kind: 'key', name: 'key_1', calls: 1, queueMs: 60_000, queueMax: 5 };

const unlimited = { kind: 'provider', provider: 'sim', offer: { model: 'sim/echo' } } as const;

/** A database of which another daemon has all slots, until they are free. */
function otherDaemon() {
  const asked = { takes: 0, looks: 0 };
  let others = 1;
  const store = {
    take: async () => {
      asked.takes += 1;
      if (asked.takes > 50) throw new Error('it is asked again and again');
      return { taken: others > 0 ? undefined : [7], elsewhere: [others] };
    },
    elsewhere: async (names: readonly string[]) => {
      asked.looks += 1;
      return names.map(() => others);
    },
    release: async () => {},
    leave: async () => {},
    releaseLeft: async () => 0,
  };
  const free = () => {
    others = 0;
  };
  return { store, asked, free };
}

test('a call that waits for another daemon takes slots again only when some are free', async () => {
  const world = fakeWorld();
  const table = new SlotTable();
  const { store, asked, free } = otherDaemon();
  const shared = new SharedSlots({ store, table, world, log: { warn: () => {} } });
  const slots = new CallSlots({ table, shared, world, limitsOf: () => [] }, { owner: 'one', startedAt: 0 });
  let isIn = false;
  const entered = slots.enter([limit], [unlimited], new AbortController().signal).then(() => {
    isIn = true;
  });
  for (let looks = 0; looks < 20; looks += 1) await world.advance(100);
  expect(asked.takes).toBe(1);
  expect(asked.looks).toBeGreaterThan(10);
  expect(isIn).toBe(false);
  free();
  await world.advance(100);
  await entered;
  expect(asked.takes).toBe(2);
  slots.release();
  expect(table.use()).toEqual([]);
});

test('a call that leaves while others have the slots leaves nothing behind', async () => {
  const world = fakeWorld();
  const table = new SlotTable();
  const { store } = otherDaemon();
  const shared = new SharedSlots({ store, table, world, log: { warn: () => {} } });
  const slots = new CallSlots({ table, shared, world, limitsOf: () => [] }, { owner: 'one', startedAt: 0 });
  const client = new AbortController();
  const entered = slots.enter([limit], [unlimited], client.signal);
  await world.advance(100);
  client.abort(new Error('gone'));
  await expect(entered).rejects.toThrow('gone');
  expect(table.use()).toEqual([]);
});
