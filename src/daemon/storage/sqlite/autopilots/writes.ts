import type { AutopilotRecord } from '../../../features/autopilots/store.ts';
import { and, eq, ne, type Orm } from '../engine/orm.ts';
import { autopilots } from './tables.ts';

type NewAutopilot = { record: Omit<AutopilotRecord, 'handle'>; handles: readonly string[] };
type Replacement = Record<'before' | 'after', AutopilotRecord>;

export function autopilotsWrites(orm: Orm) {
  const isTaken = (handle: string, except = '') =>
    orm
      .select({ id: autopilots.id })
      .from(autopilots)
      .where(and(eq(autopilots.handle, handle), ne(autopilots.id, except)))
      .get() !== undefined;

  return {
    'autopilots.insert': ({ record, handles }: NewAutopilot): string | undefined => {
      const handle = handles.find((wanted) => !isTaken(wanted));
      if (handle === undefined) return undefined;
      orm
        .insert(autopilots)
        .values({ ...record, handle })
        .run();
      return handle;
    },

    'autopilots.replace': ({ before, after }: Replacement): 'done' | 'changed' | 'handle-taken' => {
      const found = orm.select().from(autopilots).where(eq(autopilots.id, before.id)).get();
      if (JSON.stringify(found) !== JSON.stringify(before)) return 'changed';
      if (isTaken(after.handle, after.id)) return 'handle-taken';
      orm.update(autopilots).set(after).where(eq(autopilots.id, before.id)).run();
      return 'done';
    },
  };
}

export type AutopilotsWrites = ReturnType<typeof autopilotsWrites>;
