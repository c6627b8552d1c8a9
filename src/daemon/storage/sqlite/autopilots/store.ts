import type { AutopilotsStore } from '../../../features/autopilots/store.ts';
import { and, desc, eq, or } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { autopilots } from './tables.ts';
import type { AutopilotsWrites } from './writes.ts';

export function autopilotsStore({ orm, writer }: StoreContext<AutopilotsWrites>): AutopilotsStore {
  return {
    insert: (record, handles) => writer.write('autopilots.insert', { record, handles }),
    find: async (owner, reference) =>
      orm
        .select()
        .from(autopilots)
        .where(
          and(
            eq(autopilots.owner, owner),
            or(eq(autopilots.id, reference), eq(autopilots.handle, reference.toLowerCase())),
          ),
        )
        .get(),
    list: async (owner, { limit, status }) =>
      orm
        .select()
        .from(autopilots)
        .where(and(eq(autopilots.owner, owner), status && eq(autopilots.status, status)))
        .orderBy(desc(autopilots.updatedAt), desc(autopilots.id))
        .limit(limit)
        .all(),
    replace: (before, after) => writer.write('autopilots.replace', { before, after }),
  };
}
