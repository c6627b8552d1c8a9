import type { NewEvent } from '../../../features/events/index.ts';
import type { Connection } from '../engine/connection.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';
import { lte, type Orm } from '../engine/orm.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
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
  const oldestEvents = database.prepare<[{ first: number; limit: number }], { sequence: number; at: number }>(
    `SELECT * FROM (
       SELECT * FROM (SELECT sequence, at FROM events ORDER BY sequence LIMIT @limit) AS stored
       UNION ALL
       SELECT * FROM (SELECT number, completed_at FROM calls WHERE number >= @first ORDER BY number LIMIT @limit) AS settled
     ) AS oldest ORDER BY sequence LIMIT @limit`,
  );
  return {
    'events.append': (event: NewEvent): number => {
      const sequence = insert(event);
      totals.addEvent(sequence);
      return sequence;
    },
    /** Considers only the oldest `limit` events, so that calls need not wait long; returns how many were dropped. */
    'events.prune': ({ before, keep, limit }: { before: number; keep: number; limit: number }): number => {
      const keptFrom = totals.sequence - keep + 1;
      const first = readMeta(database, 'first_event') ?? 1;
      const candidates = oldestEvents.all({ first, limit });
      const kept = candidates.findIndex(({ sequence, at }) => at >= before && sequence >= keptFrom);
      const dropped = kept < 0 ? candidates : candidates.slice(0, kept);
      const last = dropped.at(-1);
      if (!last) return 0;
      writeMeta(database, 'last_event', totals.sequence);
      writeMeta(database, 'first_event', last.sequence + 1);
      orm.delete(events).where(lte(events.sequence, last.sequence)).run();
      return dropped.length;
    },
  };
}

export type EventsWrites = ReturnType<typeof eventsWrites>;
