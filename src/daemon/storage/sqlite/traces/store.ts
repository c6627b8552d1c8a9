import type { Rejection, TracesStore } from '../../../features/traces/store.ts';
import { and, eq, inArray } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { readTags } from '../metering/call-labels.ts';
import { usageRecord } from '../metering/store.ts';
import { calls } from '../metering/tables.ts';
import type { TracesReads } from './reads.ts';
import { rejections } from './tables.ts';
import type { TracesWrites } from './writes.ts';

/** Reads the usage of finished calls. Pages are found in the reader thread, as a filter may scan many calls. */
export function tracesStore({
  orm,
  reader,
  writer,
  names,
}: StoreContext<TracesWrites, TracesReads>): TracesStore {
  const recordsOf = (numbers: number[]) => {
    const rows = orm.select().from(calls).where(inArray(calls.number, numbers)).all();
    const byNumber = new Map(rows.map((row) => [row.number, usageRecord(row, names)]));
    return numbers.flatMap((number) => byNumber.get(number) ?? []);
  };
  return {
    find: async (workspaceId, requestId) => {
      const row = orm.select().from(calls).where(eq(calls.requestId, requestId)).get();
      const record = row && usageRecord(row, names);
      return record?.workspaceId === workspaceId ? record : undefined;
    },
    list: async (filter) => recordsOf(await reader.run('traces', filter)),
    search: async (filter) => {
      const { numbers, ...found } = await reader.run('searchTraces', filter);
      return { calls: recordsOf(numbers), ...found };
    },
    findRejection: async (workspaceIds, requestId) => {
      const visible = workspaceIds.map((id) => id ?? '');
      const row = orm
        .select()
        .from(rejections)
        .where(and(eq(rejections.requestId, requestId), inArray(rejections.workspaceId, visible)))
        .get();
      return row && rejectionOf(row);
    },
    listRejections: async (filter) => {
      const ids = await reader.run('rejections', filter);
      const rows = orm.select().from(rejections).where(inArray(rejections.requestId, ids)).all();
      const byId = new Map(rows.map((row) => [row.requestId, rejectionOf(row)]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
    recordRejection: async (rejection, event, keep) => {
      await writer.write('traces.recordRejection', { rejection, event, keep });
    },
  };
}

function rejectionOf(row: typeof rejections.$inferSelect): Rejection {
  const { client, endUser, conversation, tags, replayOf, ...columns } = row;
  return {
    ...columns,
    workspaceId: row.workspaceId === '' ? null : row.workspaceId,
    labels: { client, user: endUser, conversation, tags: readTags(tags), replayOf },
  };
}
