import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventRecord, EventsStore } from '../../../features/events/store.ts';
import { lastEvent } from '../engine/meta.ts';
import { and, asc, eq, gt, lte, min } from '../engine/orm.ts';
import type { StoreContext } from '../store-context.ts';
import { events } from './tables.ts';

/**
 * Events scanned before the event loop gets a turn. They have no index by workspace, which would slow down each call.
 */
const eventsPerTurn = 4000;
const prunedMax = 1000;

export function eventsStore({ database, orm, writer }: StoreContext): EventsStore {
  const between = (workspaceId: string, from: number, to: number, limit: number): EventRecord[] =>
    orm
      .select()
      .from(events)
      .where(and(gt(events.sequence, from), lte(events.sequence, to), eq(events.workspaceId, workspaceId)))
      .orderBy(asc(events.sequence))
      .limit(limit)
      .all()
      .map((row) => ({ ...row, data: JSON.parse(row.data) as EventRecord['data'] }));

  const oldest = () =>
    orm
      .select({ sequence: min(events.sequence) })
      .from(events)
      .get()?.sequence ?? undefined;

  return {
    append: (event) => writer.write('events.append', event),
    after: async (workspaceId, sequence, limit) => {
      const first = oldest() ?? 0;
      const last = lastEvent(database);
      const found: EventRecord[] = [];
      for (
        let from = Math.max(sequence, first - 1);
        from < last && found.length < limit;
        from += eventsPerTurn
      ) {
        if (from > sequence && from >= first) await nextTurn();
        found.push(...between(workspaceId, from, Math.min(from + eventsPerTurn, last), limit - found.length));
      }
      return found;
    },
    first: async () => oldest() ?? lastEvent(database) + 1,
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
