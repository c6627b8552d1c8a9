import type { StoredResponse } from '../../../features/inference/stored/responses-store.ts';
import type { Connection } from '../engine/connection.ts';

/** The write of a stored response. Most model calls end with one, so it needs no drizzle, like their other writes. */
export function responseInsert(database: Connection) {
  const response = database.prepare(
    `INSERT INTO responses (id, workspace_id, request_id, previous_id, body, input, output, created_at, expires_at)
     VALUES (@id, @workspaceId, @requestId, @previousId, @body, @input, @output, @createdAt, @expiresAt)`,
  );
  // An id may come twice, as input that was an earlier output; the first place is as good as the second.
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
