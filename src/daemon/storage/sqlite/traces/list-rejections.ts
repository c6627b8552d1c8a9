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
           AND (@model IS NULL OR model = @model) AND (@keyId IS NULL OR key_id = @keyId)
         ORDER BY completed_at DESC, request_id DESC LIMIT @limit`,
      )
      .pluck()
      .all({
        since,
        until,
        model,
        keyId,
        limit,
        workspaceIds: JSON.stringify(workspaceIds),
        at: last?.completedAt ?? null,
        last: last?.requestId ?? null,
      });
  })();
}
