import type { StoredResponse } from '../../../features/inference/stored/responses-store.ts';
import type { Connection } from '../engine/connection.ts';

/** Inserts a stored response. Most model calls end with this write, so it does not use Drizzle. */
export function responseInsert(database: Connection) {
  const response = database.prepare(
    `INSERT INTO responses (id, workspace_id, request_id, previous_id, body, input, output, created_at, expires_at)
     VALUES (@id, @workspaceId, @requestId, @previousId, @body, @input, @output, @createdAt, @expiresAt)`,
  );
  // An earlier output that is sent as input has the same id again; either position will do.
  const item = database.prepare(
    `INSERT INTO response_items (item_id, response_id, place, position) VALUES (?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  return {
    'responses.insert': (record: StoredResponse): void => {
      response.run(record);
      for (const place of ['input', 'output'] as const) {
        for (const { itemId, position } of itemsOf(record[place]))
          item.run(itemId, record.id, place, position);
      }
    },
  };
}

function itemsOf(list: string): { itemId: string; position: number }[] {
  const items: unknown = JSON.parse(list);
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown, position) => {
    const itemId = item && typeof item === 'object' && 'id' in item ? item.id : undefined;
    return typeof itemId === 'string' ? [{ itemId, position }] : [];
  });
}

export type ResponseInsert = ReturnType<typeof responseInsert>;
