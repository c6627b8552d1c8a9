import type { ListedResponse, ResponsesPage } from '../../../features/inference/stored/responses-store.ts';
import type { Connection } from '../engine/connection.ts';

/**
 * Lists stored responses and running background responses, newest first. It extracts a few members from bodies that may
 * be long, so it runs in the reader thread.
 */
export function listResponses(database: Connection, page: ResponsesPage): ListedResponse[] {
  const seen = 'workspace_id = @workspaceId AND expires_at > @at AND (id < @after OR @after IS NULL)';
  type Row = Omit<ListedResponse, 'isBackground' | 'isRunning'> & { isBackground: number; isRunning: number };
  return database
    .prepare<[object], Row>(
      `SELECT id, createdAt, isRunning, body ->> '$.status' AS status, body ->> '$.model' AS model,
         CASE WHEN (body -> '$.background') = 'true' THEN 1 ELSE 0 END AS isBackground
       FROM (
         SELECT * FROM (
           SELECT id, created_at AS createdAt, 0 AS isRunning, body FROM responses
           WHERE ${seen} ORDER BY id DESC LIMIT @limit) AS stored
         UNION ALL
         SELECT * FROM (
           SELECT id, created_at AS createdAt, 1 AS isRunning, body FROM background_responses
           WHERE is_running = 1 AND ${seen} ORDER BY id DESC LIMIT @limit) AS running) AS seen
       ORDER BY id DESC LIMIT @limit`,
    )
    .all({ ...page, after: page.after ?? null })
    .map((row) => ({ ...row, isBackground: row.isBackground === 1, isRunning: row.isRunning === 1 }));
}
