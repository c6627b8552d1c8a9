import type { NewEvent } from '../../../features/events/index.ts';
import type { Rejection } from '../../../features/traces/store.ts';
import { desc, eq, inArray, type Orm } from '../engine/orm.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { tagsText } from '../metering/call-labels.ts';
import { rejections } from './tables.ts';

/** Deleted at most with each new row, so that no write takes long. */
const removedMax = 10;

interface RecordedRejection {
  rejection: Rejection;
  event: NewEvent;
  keep: number;
}

export function tracesWrites(orm: Orm, totals: BatchTotals) {
  const insertEvent = eventInsert(orm, totals);
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
      // One request may contain several calls, as of tools; the last one is kept.
      orm.insert(rejections).values(row).onConflictDoUpdate({ target: rejections.requestId, set: row }).run();
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
      if (surplus.length > 0) orm.delete(rejections).where(inArray(rejections.requestId, surplus)).run();
      totals.addEvent(sequence);
    },
  };
}

export type TracesWrites = ReturnType<typeof tracesWrites>;
