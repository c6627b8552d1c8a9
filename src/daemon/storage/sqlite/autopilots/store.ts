import type { AutopilotsStore, ListedRecord } from '../../../features/autopilots/store.ts';
import { and, asc, desc, eq, isNotNull, lt, lte, min, ne, or, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { users } from '../workspaces/tables.ts';
import { autopilots, isClaimedBy, occurrenceColumns, occurrences } from './tables.ts';
import type { AutopilotsWrites } from './writes.ts';

/** With a literal, as SQLite does not use a partial index for a bound value. */
const isListed = and(eq(autopilots.status, 'active'), sql`${autopilots.visibility} <> 'private'`);

export function autopilotsStore({ orm, writer }: StoreContext<AutopilotsWrites>): AutopilotsStore {
  const { id, handle, displayName, avatar, tagline, createdAt, visibility } = autopilots;
  const { number, handle: ownerHandle, name, avatar: ownerAvatar } = users;
  const owner = { number, handle: ownerHandle, name, avatar: ownerAvatar };
  const listed = { id, handle, displayName, avatar, tagline, createdAt, visibility, owner };
  const hasClaims = (daemon: number) =>
    orm.select({ id: occurrences.id }).from(occurrences).where(isClaimedBy(daemon)).limit(1).get() !==
    undefined;
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
    directory: async ({ isPublicOnly, limit, before }) =>
      orm
        .select(listed)
        .from(autopilots)
        .innerJoin(users, eq(users.number, autopilots.owner))
        .where(
          and(
            isListed,
            isPublicOnly ? eq(autopilots.visibility, 'public') : undefined,
            before === undefined ? undefined : lt(autopilots.id, before),
          ),
        )
        .orderBy(desc(autopilots.id))
        .limit(limit)
        .all() as ListedRecord[],
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
    // Usually none are left, and the start need not wait for a write then.
    endLeftClaims: async (daemon) =>
      hasClaims(daemon) ? await writer.write('autopilots.endLeftClaims', daemon) : [],
    notRun: async (autopilotId, { workspaceId, limit }) =>
      orm
        .select(occurrenceColumns)
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
