import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';

/** Where a page ends: at a finished call, or at a rejected one, which comes after the finished ones of its millisecond. */
interface PageEnd {
  completedAt: number;
  /** The number of the finished call; 0 for a rejected one. */
  number: number;
  /** The id of the rejected call; null for a finished one. */
  requestId: string | null;
}

/** The last call of the previous page, by its id; undefined if these workspaces have none with it. '' is of unknown callers. */
export function pageEnd(
  database: Connection,
  names: NameTexts,
  workspaceIds: readonly string[],
  requestId: string,
): PageEnd | undefined {
  const workspaces = workspaceIds.map((id) => names.numberOf(id)).filter((number) => number !== undefined);
  return database
    .prepare<[object], PageEnd>(
      `SELECT completed_at AS completedAt, number, NULL AS requestId FROM calls
       WHERE request_id = @requestId AND workspace IN (SELECT CAST(value AS bigint) FROM json_each(@workspaces))
       UNION ALL
       SELECT completed_at, 0, request_id FROM rejections
       WHERE request_id = @requestId AND workspace_id IN (SELECT value FROM json_each(@workspaceIds))`,
    )
    .get({ requestId, workspaces: JSON.stringify(workspaces), workspaceIds: JSON.stringify(workspaceIds) });
}
