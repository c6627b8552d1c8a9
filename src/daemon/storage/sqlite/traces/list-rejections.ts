import type { RejectionsFilter } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';

/** Returns the request ids of a page of rejections, latest first; they follow the finished calls of their millisecond. */
export function listRejections(database: Connection, names: NameTexts, filter: RejectionsFilter): string[] {
  const { after, since = 0, until = Number.MAX_SAFE_INTEGER, model = null, keyId = null, limit } = filter;
  const workspaceIds = filter.workspaceIds.map((id) => id ?? '');
  return database.transaction(() => {
    const last = after === undefined ? undefined : endOf(database, names, workspaceIds, after);
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

/** The last request of the previous page: a rejected one, or a finished one, without an id. */
function endOf(database: Connection, names: NameTexts, workspaceIds: readonly string[], requestId: string) {
  const workspaces = workspaceIds.map((id) => names.numberOf(id)).filter((number) => number !== undefined);
  return database
    .prepare<[object], { completedAt: number; requestId: string | null }>(
      `SELECT completed_at AS completedAt, NULL AS requestId FROM calls
       WHERE request_id = @requestId AND workspace IN (SELECT value FROM json_each(@workspaces))
       UNION ALL
       SELECT completed_at, request_id FROM rejections
       WHERE request_id = @requestId AND workspace_id IN (SELECT value FROM json_each(@workspaceIds))`,
    )
    .get({
      requestId,
      workspaces: JSON.stringify(workspaces),
      workspaceIds: JSON.stringify(workspaceIds),
    });
}
