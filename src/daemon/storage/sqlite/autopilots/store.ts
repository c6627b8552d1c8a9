import type { AutopilotsStore } from '../../../features/autopilots/store.ts';
import { and, asc, desc, eq, isNotNull, lte, min, ne, or } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { autopilots, occurrences } from './tables.ts';
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
    due: async (now, limit) =>
      orm
        .select()
        .from(autopilots)
        .where(and(isNotNull(autopilots.nextRunAt), lte(autopilots.nextRunAt, now)))
        .orderBy(asc(autopilots.nextRunAt))
        .limit(limit)
        .all(),
    nextDue: async () =>
      orm
        .select({ at: min(autopilots.nextRunAt) })
        .from(autopilots)
        .where(isNotNull(autopilots.nextRunAt))
        .get()?.at ?? undefined,
    claim: (claim) => writer.write('autopilots.claim', claim),
    endClaim: (id, reason) => writer.write('autopilots.endClaim', { id, reason }),
    endLeftClaims: () => writer.write('autopilots.endLeftClaims', undefined),
    notRun: async (autopilotId, { workspaceId, limit }) =>
      orm
        .select()
        .from(occurrences)
        .where(
          and(
            eq(occurrences.autopilotId, autopilotId),
            eq(occurrences.workspaceId, workspaceId),
            ne(occurrences.status, 'claimed'),
          ),
        )
        .orderBy(desc(occurrences.id))
        .limit(limit)
        .all(),
  };
}
