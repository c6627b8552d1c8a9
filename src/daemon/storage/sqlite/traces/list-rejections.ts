import type { RejectionsFilter } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { pageEnd } from './page-end.ts';

/** Returns the request ids of a page of rejections, latest first; they follow the finished calls of their millisecond. */
export function listRejections(database: Connection, names: NameTexts, filter: RejectionsFilter): string[] {
  const { after, since = 0, until = Number.MAX_SAFE_INTEGER, model = null, keyId = null, limit } = filter;
  const workspaceIds = filter.workspaceIds.map((id) => id ?? '');
  return database.transaction(() => {
    const last = after === undefined ? undefined : pageEnd(database, names, workspaceIds, after);
    if (after !== undefined && !last) return [];
    return database
      .prepare<[object], string>(
        `SELECT request_id FROM rejections
         WHERE workspace_id IN (SELECT value FROM json_each(@workspaceIds))
           AND completed_at >= @since AND completed_at < @until
           AND (@at IS NULL OR completed_at < @at OR (completed_at = @at AND request_id < coalesce(@last, '~')))
           AND (@model IS NULL OR model = @model) AND (@keyId IS NULL OR key_id = @keyId) ${searched(filter.search)}
         ORDER BY completed_at DESC, request_id DESC LIMIT @limit`,
      )
      .pluck()
      .all({
        since,
        until,
        model,
        keyId,
        limit,
        ...filter.search,
        workspaceIds: JSON.stringify(workspaceIds),
        at: last?.completedAt ?? null,
        last: last?.requestId ?? null,
      });
  })();
}

/** Conditions for the filters of a search that are given. */
function searched(search: RejectionsFilter['search']): string {
  if (!search) return '';
  const conditions: Record<keyof typeof search, string> = {
    errorCode: 'error_code = @errorCode',
    endpoint: 'endpoint = @endpoint',
    client: "(client = @client OR substr(client, 1, length(@client) + 1) = @client || '/')",
    user: 'end_user = @user',
    conversation: 'conversation = @conversation',
    tag: 'EXISTS (SELECT 1 FROM json_each(tags) WHERE value = @tag)',
    replayOf: 'replay_of = @replayOf',
    minTotalMs: 'total_ms >= @minTotalMs',
  };
  return Object.entries(conditions)
    .filter(([name]) => search[name as keyof typeof search] !== undefined)
    .map(([, sql]) => `AND ${sql}`)
    .join(' ');
}
