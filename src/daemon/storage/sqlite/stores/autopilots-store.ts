import type { AutopilotsStore } from '../../../features/autopilots/autopilots-store.ts';
import { and, desc, eq, type Orm, or } from '../orm.ts';
import { autopilots } from '../schema/site.ts';
import type { Writer } from '../writer.ts';

/** Autopilots: point look-ups in the main thread, writes in the writer's. */
export function autopilotsStore(orm: Orm, writer: Writer): AutopilotsStore {
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
