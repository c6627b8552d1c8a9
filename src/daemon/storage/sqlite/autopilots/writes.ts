import type { AutopilotRecord, Claim, OccurrenceRecord } from '../../../features/autopilots/store.ts';
import { and, desc, eq, inArray, lte, ne, type Orm } from '../engine/orm.ts';
import { threadRuns } from '../threads/tables.ts';
import { autopilots, isClaimedBy, occurrenceColumns, occurrences } from './tables.ts';

/** How many missed and skipped runs of an autopilot are stored. */
const occurrencesKept = 200;

type NewAutopilot = { record: Omit<AutopilotRecord, 'handle'>; handles: readonly string[] };
type Replacement = Record<'before' | 'after', AutopilotRecord>;

export function autopilotsWrites(orm: Orm, daemon: number) {
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

    'autopilots.claim': ({ id, dueAt, nextRunAt, occurrences: given }: Claim): boolean => {
      const isDue = and(eq(autopilots.id, id), eq(autopilots.nextRunAt, dueAt));
      if (orm.update(autopilots).set({ nextRunAt }).where(isDue).run().changes === 0) return false;
      for (const occurrence of given)
        orm
          .insert(occurrences)
          .values({ ...occurrence, daemon })
          .run();
      dropOldOccurrences(orm, id);
      return true;
    },

    'autopilots.endClaim': ({ id, reason }: Pick<OccurrenceRecord, 'id' | 'reason'>): void => {
      const isClaimed = and(eq(occurrences.id, id), eq(occurrences.status, 'claimed'));
      if (reason === null) orm.delete(occurrences).where(isClaimed).run();
      else orm.update(occurrences).set({ status: 'skipped', reason }).where(isClaimed).run();
    },

    'autopilots.endLeftClaims': (left: number): OccurrenceRecord[] => {
      const claimed = isClaimedBy(left);
      const started = orm.select({ id: threadRuns.id }).from(threadRuns);
      orm
        .delete(occurrences)
        .where(and(claimed, inArray(occurrences.id, started)))
        .run();
      const unstarted = orm.select(occurrenceColumns).from(occurrences).where(claimed).all();
      const missed = { status: 'missed' } as const;
      for (const { id } of unstarted) orm.update(occurrences).set(missed).where(eq(occurrences.id, id)).run();
      return unstarted.map((occurrence) => ({ ...occurrence, ...missed }));
    },
  };
}

function dropOldOccurrences(orm: Orm, autopilotId: string): void {
  const ofAutopilot = eq(occurrences.autopilotId, autopilotId);
  const newestDropped = orm
    .select({ id: occurrences.id })
    .from(occurrences)
    .where(ofAutopilot)
    .orderBy(desc(occurrences.id))
    .limit(1)
    .offset(occurrencesKept)
    .get();
  if (newestDropped)
    orm
      .delete(occurrences)
      .where(and(ofAutopilot, lte(occurrences.id, newestDropped.id)))
      .run();
}

export type AutopilotsWrites = ReturnType<typeof autopilotsWrites>;
