import { isPattern } from '../../../../shared/calls/query.ts';
import type {
  RejectedCallsFilter,
  RejectionCount,
  RejectionsFilter,
  TermField,
} from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import {
  rejectedCalls as rejectedBySlot,
  rejectedTable,
  slotBounds,
} from '../metering/usage/rejected-calls.ts';
import { globOf, keyIdsOf } from './call-conditions.ts';
import { pageEnd } from './page-end.ts';

type Values = Record<string, string | number>;

/** Returns the request ids of a page of rejections, latest first; they follow the finished calls of their millisecond. */
export function listRejections(database: Connection, names: NameTexts, filter: RejectionsFilter): string[] {
  const { after, limit } = filter;
  const workspaceIds = filter.workspaceIds.map((id) => id ?? '');
  return database.transaction(() => {
    const last = after === undefined ? undefined : pageEnd(database, names, workspaceIds, after);
    if (after !== undefined && !last) return [];
    const { sql, values } = selected(database, filter);
    return database
      .prepare<[object], string>(
        `SELECT request_id FROM rejections
         WHERE workspace_id IN (SELECT value FROM json_each(@workspaceIds))
           AND (completed_at < @at OR (completed_at = @at AND request_id < coalesce(@last, '~')) OR @at IS NULL)
           AND ${sql}
         ORDER BY completed_at DESC, request_id DESC LIMIT @limit`,
      )
      .pluck()
      .all({
        ...values,
        limit,
        at: last?.completedAt ?? null,
        last: last?.requestId ?? null,
      });
  })();
}

/** Fields that are known of calls whose records were removed. */
const countedFields = new Set<TermField>(['status', 'errorCode', 'model', 'provider', 'keyId', 'client']);

/** Counts rejected calls that are alike, with those that have no record of their own. */
export function countRejections(
  database: Connection,
  filter: Omit<RejectionsFilter, 'after' | 'limit'>,
): RejectionCount[] {
  const { sql, values } = selected(database, filter);
  const isRecorded =
    filter.minTotalMs !== undefined ||
    filter.requestIds !== undefined ||
    filter.terms.some(({ field }) => !countedFields.has(field));
  return database
    .prepare<[object], Omit<RejectionCount, 'tags'> & { tags: string | null }>(
      `SELECT error_code AS errorCode, model, key_id AS keyId, client, end_user AS "user", conversation, endpoint, tags,
         sum(calls) AS calls
       FROM ${rejectedTable(sql, { isRecorded })} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`,
    )
    .all(values)
    .map(({ tags, ...count }) => ({ ...count, tags: tags === null ? [] : (JSON.parse(tags) as string[]) }));
}

/** How many calls were rejected in each bucket of time. */
export function rejectedCalls(database: Connection, { buckets, ...filter }: RejectedCallsFilter): number[] {
  return database.transaction(() =>
    buckets.map(({ start, end }) =>
      rejectedBySlot(database, { ...filter, since: start, until: end }, []).reduce(
        (sum, { calls }) => sum + calls,
        0,
      ),
    ),
  )();
}

const columns: Record<TermField, string> = {
  status: "'rejected'",
  errorCode: 'error_code',
  endpoint: 'endpoint',
  model: 'model',
  provider: 'NULL',
  keyId: 'key_id',
  client: 'client',
  user: 'end_user',
  conversation: 'conversation',
  tag: 'json_each.value',
  httpStatus: 'CAST(http_status AS TEXT)',
  replayOf: 'replay_of',
};

/** Conditions for the filters that are given, but for the page. */
function selected(
  database: Connection,
  { since, until, terms, minTotalMs, requestIds, ...filter }: Omit<RejectionsFilter, 'after' | 'limit'>,
) {
  const workspaceIds = filter.workspaceIds.map((id) => id ?? '');
  const range = { since: since ?? 0, until: until ?? Number.MAX_SAFE_INTEGER };
  const values: Values = { workspaceIds: JSON.stringify(workspaceIds), ...range, ...slotBounds(range) };
  const conditions = ['completed_at >= @since AND completed_at < @until'];
  if (minTotalMs !== undefined) {
    values.minTotalMs = minTotalMs;
    conditions.push('total_ms >= @minTotalMs');
  }
  if (requestIds) {
    values.requestIds = JSON.stringify(requestIds);
    conditions.push('request_id IN (SELECT value FROM json_each(@requestIds))');
  }
  for (const [index, term] of terms.entries()) {
    const named = term.field === 'keyId' ? keyIdsOf(database, workspaceIds, term) : term.values;
    const any = named.map((value, at) => {
      const name = `term${index}_${at}`;
      const column = columns[term.field];
      const isGlob = isPattern(value, term);
      values[name] = isGlob ? globOf(value) : value;
      if (isGlob) return `glob(@${name}, ${column})`;
      if (term.field !== 'client' || term.isExact) return `${column} = @${name}`;
      return `(client = @${name} OR substr(client, 1, length(@${name}) + 1) = @${name} || '/')`;
    });
    const one = `(${any.join(' OR ')})`;
    const condition = term.field === 'tag' ? `EXISTS (SELECT 1 FROM json_each(tags) WHERE ${one})` : one;
    conditions.push(term.isExcluded ? `(${condition}) IS NOT TRUE` : condition);
  }
  return { sql: conditions.join(' AND '), values };
}
