import type { NewEvent } from '../../../features/events/index.ts';
import type { Connection } from '../engine/connection.ts';
import { writeMeta } from '../engine/meta.ts';
import { asc, inArray, type Orm } from '../engine/orm.ts';
import type { BatchTotals } from '../ledger/batch-totals.ts';
import { events } from './tables.ts';

/**
 * Returns a function that stores events within another operation. It returns the sequence of the last one, which the
 * operation passes to `BatchTotals.addEvent` once nothing can fail any more.
 */
export function eventInsert(orm: Orm, totals: BatchTotals) {
  return (...added: readonly NewEvent[]): number => {
    let { sequence } = totals;
    for (const event of added) {
      sequence += 1;
      orm
        .insert(events)
        .values({ ...event, sequence, data: JSON.stringify(event.data) })
        .run();
    }
    return sequence;
  };
}

export function eventsWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const insert = eventInsert(orm, totals);
  return {
    'events.append': (event: NewEvent): number => {
      const sequence = insert(event);
      totals.addEvent(sequence);
      return sequence;
    },
    /** Considers only the oldest `limit` events, so that calls need not wait long; returns how many were deleted. */
    'events.prune': ({ before, keep, limit }: { before: number; keep: number; limit: number }): number => {
      const keptFrom = totals.sequence - keep + 1;
      const old = orm
        .select({ sequence: events.sequence, at: events.at })
        .from(events)
        .orderBy(asc(events.sequence))
        .limit(limit)
        .all()
        .filter(({ sequence, at }) => at < before || sequence < keptFrom)
        .map(({ sequence }) => sequence);
      if (old.length === 0) return 0;
      writeMeta(database, 'last_event', totals.sequence);
      return orm.delete(events).where(inArray(events.sequence, old)).run().changes;
    },
  };
}
