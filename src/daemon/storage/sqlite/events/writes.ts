import type { NewEvent } from '../../../features/events/index.ts';
import type { Connection } from '../engine/connection.ts';
import { writeMeta } from '../engine/meta.ts';
import { asc, inArray, type Orm } from '../engine/orm.ts';
import type { Totals } from '../ledger/batch-totals.ts';
import { events } from './tables.ts';

export function eventsCommands(database: Connection, orm: Orm, totals: Totals) {
  return {
    'events.append': (event: NewEvent): number => {
      const sequence = totals.sequence + 1;
      orm
        .insert(events)
        .values({ ...event, sequence, data: JSON.stringify(event.data) })
        .run();
      totals.eventWritten(sequence);
      return sequence;
    },
    /** Looks at the oldest `limit` events alone, so that calls in between need not wait; says how many it dropped. */
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
