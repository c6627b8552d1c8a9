import type { UsageRecord } from '../../../features/metering/index.ts';
import type { AttemptsOfModel, Rejection, TracesStore } from '../../../features/traces/store.ts';
import { and, eq, inArray } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { readTags } from '../metering/call-details.ts';
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
  const recordsByNumber = (numbers: number[]): Map<number, UsageRecord> => {
    if (numbers.length === 0) return new Map();
    const rows = orm.select().from(calls).where(inArray(calls.number, numbers)).all();
    return new Map(rows.map((row) => [row.number, usageRecord(row, names)]));
  };
  const recordsOf = (numbers: number[]) => {
    const byNumber = recordsByNumber(numbers);
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
    sorted: async (filter) => {
      const { numbers, ...found } = await reader.run('sortedTraces', filter);
      return { calls: recordsOf(numbers), ...found };
    },
    matching: async (filter, requestIds) =>
      recordsOf(await reader.run('matchingCalls', { ...filter, requestIds })),
    facets: (filter) => reader.run('traceFacets', filter),
    attempts: async (filter) => {
      const found = await reader.run('attempts', filter);
      const numbers = found.flatMap(({ lastFailed }) => lastFailed ?? []);
      const byNumber = recordsByNumber(numbers);
      return found.map(({ lastFailed, ...attempts }) => {
        const call = lastFailed === undefined ? undefined : byNumber.get(lastFailed);
        return { ...attempts, lastFailure: call && lastFailureIn(call, attempts, filter.callersFault) };
      });
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
      if (ids.length === 0) return [];
      const rows = orm.select().from(rejections).where(inArray(rejections.requestId, ids)).all();
      const byId = new Map(rows.map((row) => [row.requestId, rejectionOf(row)]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
    countRejections: (filter) => reader.run('countRejections', filter),
    rejectedCalls: (filter) => reader.run('rejectedCalls', filter),
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

/** The last failed attempt of a call at a model. */
function lastFailureIn(
  { requestId, completedAt: at, attempts }: UsageRecord,
  { provider, model }: Pick<AttemptsOfModel, 'provider' | 'model'>,
  callersFault: string,
): AttemptsOfModel['lastFailure'] {
  const failed = attempts.findLast(
    (attempt) =>
      attempt.provider === provider &&
      attempt.model === model &&
      attempt.errorCode !== null &&
      attempt.errorCode !== callersFault,
  );
  if (!failed || failed.errorCode === null) return undefined;
  const { status, errorCode, message = null } = failed;
  return { requestId, at, status, errorCode, message };
}
