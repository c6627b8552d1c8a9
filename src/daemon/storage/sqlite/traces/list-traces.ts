import type { TracesFilter } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';

/** Returns the ids of a page of finished calls, using the index by workspace and completion time. */
export function listTraces(database: Connection, filter: TracesFilter): string[] {
  const { workspaceId, after } = filter;
  const at = after === undefined ? null : endOf(database, workspaceId, after);
  if (at === undefined) return [];
  return database
    .prepare<[object], string>(
      `SELECT request_id FROM usage
       WHERE workspace_id = @workspaceId
         AND completed_at >= coalesce(@since, 0) AND completed_at < coalesce(@until, 9007199254740991)
         AND (@at IS NULL OR (completed_at, request_id) < (@at, @after))
         AND (@status IS NULL OR status = @status) AND (@model IS NULL OR model = @model)
         AND (@provider IS NULL OR provider = @provider) AND (@keyId IS NULL OR key_id = @keyId)
       ORDER BY completed_at DESC, request_id DESC LIMIT @limit`,
    )
    .pluck()
    .all({ ...undefinedAsNull(filter), at });
}

function endOf(database: Connection, workspaceId: string, requestId: string): number | undefined {
  return database
    .prepare<[string, string], number>(
      'SELECT completed_at FROM usage WHERE request_id = ? AND workspace_id = ?',
    )
    .pluck()
    .get(requestId, workspaceId);
}

function undefinedAsNull(filter: TracesFilter) {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, value ?? null]));
}
