import type { NewEvent } from '../../../features/events/index.ts';
import type { Rejection } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import { desc, eq, type Orm, sql } from '../engine/orm.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { tagsText } from '../metering/call-details.ts';
import { rejectionSlotMs } from '../metering/usage/rejected-calls.ts';
import { rejections } from './tables.ts';

/** Deleted at most with each new row, so that no write takes long. */
const removedMax = 10;
/** So many totals of a quarter of an hour have a model and a client, as callers choose these. */
const totalsOfSlotMax = 100;
/** Totals are kept for so many quarters: 400 days. */
const slotsKept = 400 * 96;

interface RecordedRejection {
  rejection: Rejection;
  event: NewEvent;
  keep: number;
}

export function tracesWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const insertEvent = eventInsert(orm, totals);
  const isFull = `(SELECT count(*) FROM rejection_totals AS known
    WHERE known.workspace_id = rejections.workspace_id AND known.slot = rejections.completed_at / ${rejectionSlotMs}) >= ${totalsOfSlotMax}`;
  const unlessFull = (column: string) => `CASE WHEN ${isFull} THEN '' ELSE coalesce(${column}, '') END`;
  const addToTotals = database.prepare<[string]>(
    `INSERT INTO rejection_totals (workspace_id, slot, error_code, key_id, model, client, calls)
     SELECT workspace_id, completed_at / ${rejectionSlotMs} AS slot, error_code, coalesce(key_id, '') AS key_id,
       ${unlessFull('model')} AS model, ${unlessFull('client')} AS client, sum(1 + more)
     FROM rejections WHERE request_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3, 4, 5, 6
     ON CONFLICT (workspace_id, slot, error_code, key_id, model, client)
     DO UPDATE SET calls = rejection_totals.calls + excluded.calls`,
  );
  const remove = database.prepare<[string]>(
    'DELETE FROM rejections WHERE request_id IN (SELECT value FROM json_each(?))',
  );
  const removeOldest = database.prepare<[{ workspaceId: string; before: number }]>(
    `DELETE FROM rejection_totals WHERE workspace_id = @workspaceId AND slot < @before
       AND slot = (SELECT min(slot) FROM rejection_totals WHERE workspace_id = @workspaceId)`,
  );
  return {
    'traces.recordRejection': ({ rejection, event, keep }: RecordedRejection): void => {
      const { labels, ...columns } = rejection;
      const { user: endUser, tags, ...others } = labels;
      const row = {
        ...columns,
        ...others,
        endUser,
        tags: tagsText(tags),
        workspaceId: rejection.workspaceId ?? '',
      };
      // One request may contain several calls, as of tools; the last one is kept, and all are counted.
      const more = sql`${rejections.more} + 1 + ${row.more}`;
      orm
        .insert(rejections)
        .values(row)
        .onConflictDoUpdate({ target: rejections.requestId, set: { ...row, more } })
        .run();
      const sequence = insertEvent(event);
      const surplus = orm
        .select({ requestId: rejections.requestId })
        .from(rejections)
        .where(eq(rejections.workspaceId, row.workspaceId))
        .orderBy(desc(rejections.completedAt), desc(rejections.requestId))
        .limit(removedMax)
        .offset(keep)
        .all()
        .map(({ requestId }) => requestId);
      if (surplus.length > 0) {
        const { workspaceId, completedAt } = row;
        addToTotals.run(JSON.stringify(surplus));
        remove.run(JSON.stringify(surplus));
        removeOldest.run({ workspaceId, before: Math.floor(completedAt / rejectionSlotMs) - slotsKept });
      }
      totals.addEvent(sequence);
    },
  };
}

export type TracesWrites = ReturnType<typeof tracesWrites>;
