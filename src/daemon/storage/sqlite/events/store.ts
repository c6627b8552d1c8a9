import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventRecord, EventsStore, NewEvent } from '../../../features/events/store.ts';
import type { UsageRecord } from '../../../features/metering/store.ts';
import { lastEvent, readMeta } from '../engine/meta.ts';
import { and, asc, gt, inArray, lte, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { usageRecord } from '../metering/store.ts';
import { calls } from '../metering/tables.ts';
import { events } from './tables.ts';
import type { EventsWrites } from './writes.ts';

/**
 * Events scanned before the event loop gets a turn. They have no index by workspace, which would slow down each call.
 */
const eventsPerTurn = 4000;
const prunedMax = 1000;

/** The event of a settled call is not stored: `settledEvent` derives it from the call, which has its sequence. */
export function eventsStore(
  { database, orm, writer, names }: StoreContext<EventsWrites>,
  settledEvent: (call: UsageRecord) => NewEvent,
): EventsStore {
  const stored = (workspaceIds: readonly string[], from: number, to: number, limit: number): EventRecord[] =>
    orm
      .select()
      .from(events)
      .where(
        and(
          gt(events.sequence, from),
          lte(events.sequence, to),
          inArray(events.workspaceId, [...workspaceIds]),
        ),
      )
      .orderBy(asc(events.sequence))
      .limit(limit)
      .all()
      .map((row) => ({ ...row, data: JSON.parse(row.data) as EventRecord['data'] }));

  const ofCalls = (workspace: number, from: number, to: number, limit: number): EventRecord[] =>
    orm
      .select()
      .from(calls)
      // The plus keeps SQLite from using an index by workspace, and thus from sorting all its calls.
      .where(and(gt(calls.number, from), lte(calls.number, to), sql`+${calls.workspace} = ${workspace}`))
      .orderBy(asc(calls.number))
      .limit(limit)
      .all()
      .map((row) => ({ ...settledEvent(usageRecord(row, names)), sequence: row.number }));

  const between = (workspaceIds: readonly string[], from: number, to: number, limit: number): EventRecord[] =>
    [
      ...stored(workspaceIds, from, to, limit),
      ...workspaceIds.flatMap((id) => {
        const workspace = names.numberOf(id);
        return workspace === undefined ? [] : ofCalls(workspace, from, to, limit);
      }),
    ]
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, limit);

  const prunedTo = () => (readMeta(database, 'first_event') ?? 1) - 1;

  return {
    append: (event) => writer.write('events.append', event),
    after: async (workspaceIds, sequence, limit) => {
      const pruned = prunedTo();
      const last = lastEvent(database);
      const found: EventRecord[] = [];
      for (
        let from = Math.max(sequence, pruned);
        from < last && found.length < limit;
        from += eventsPerTurn
      ) {
        if (from > sequence && from > pruned) await nextTurn();
        found.push(
          ...between(workspaceIds, from, Math.min(from + eventsPerTurn, last), limit - found.length),
        );
      }
      return found;
    },
    prunedTo: async () => prunedTo(),
    last: async () => lastEvent(database),
    prune: async (before, keep) => {
      let pruned = 0;
      for (let dropped = prunedMax; dropped === prunedMax; pruned += dropped) {
        dropped = await writer.write('events.prune', { before, keep, limit: prunedMax });
      }
      return pruned;
    },
  };
}
