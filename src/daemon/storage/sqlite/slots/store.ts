import type { SlotsStore } from '../../../features/concurrency/store.ts';
import { eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { elsewhereSql } from './elsewhere.ts';
import { callSlots } from './tables.ts';
import type { SlotsWrites } from './writes.ts';

export function slotsStore({ database, daemon, orm, writer }: StoreContext<SlotsWrites>): SlotsStore {
  const elsewhere = database.prepare<[object], number>(elsewhereSql).pluck();
  const hasAny = (of: number) =>
    orm
      .select({ number: callSlots.number })
      .from(callSlots)
      .where(eq(callSlots.daemon, of))
      .limit(1)
      .get() !== undefined;
  return {
    take: (limits) => writer.write('slots.take', limits),
    elsewhere: async (names) => names.map((name) => elsewhere.get({ name, daemon }) ?? 0),
    release: (slots) => writer.write('slots.release', slots),
    leave: (names) => writer.write('slots.leave', names),
    releaseLeft: async (from) => (hasAny(from) ? await writer.write('slots.releaseLeft', from) : 0),
  };
}
