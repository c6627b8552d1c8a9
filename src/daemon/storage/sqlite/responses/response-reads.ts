import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResponsesStore, StoredTurn } from '../../../features/inference/stored/responses-store.ts';
import type { Connection } from '../engine/connection.ts';

/**
 * Bytes read before the event loop gets a turn, as these reads run in the main thread. Each row counts as some bytes
 * too.
 */
const bytesPerTurn = 1024 * 1024;
const rowBytes = 4096;

type Place = 'input' | 'output';

interface Predecessor {
  previousId: string | null;
  /** Size of the items. */
  bytes: number;
}

/** Reads of many stored responses: the previous responses of a conversation, and items referenced by id. */
export function responseReads(database: Connection): Pick<ResponsesStore, 'chain' | 'items'> {
  const visible = 'workspace_id = @workspaceId AND expires_at > @at';
  const predecessor = database.prepare<[object], Predecessor>(
    `SELECT previous_id AS previousId, octet_length(output) + octet_length(input) AS bytes
     FROM responses WHERE id = @id AND ${visible}`,
  );
  const turn = database.prepare<[string], StoredTurn>('SELECT id, input, output FROM responses WHERE id = ?');
  const place = database.prepare<[object], { responseId: string; place: Place; position: number }>(
    // CROSS JOIN starts with the item. SQLite would start with all responses of the workspace.
    `SELECT response_id AS responseId, place, position FROM response_items CROSS JOIN responses
     WHERE id = response_id AND item_id = @itemId AND ${visible} ORDER BY created_at DESC, id DESC LIMIT 1`,
  );
  const lists = {
    input: database.prepare<[string], string>('SELECT input FROM responses WHERE id = ?').pluck(),
    output: database.prepare<[string], string>('SELECT output FROM responses WHERE id = ?').pluck(),
  };

  return {
    chain: async (workspaceId, id, { at, bytesMax }) => {
      const yieldIfDue = createYield();
      const ids = new Set<string>();
      let bytes = 0;
      for (let next: string | null = id; next !== null; ) {
        // Only a damaged file can contain a cycle.
        const found: Predecessor | undefined = ids.has(next)
          ? undefined
          : predecessor.get({ id: next, workspaceId, at });
        if (!found) return undefined;
        ids.add(next);
        bytes += found.bytes;
        if (bytes > bytesMax) return 'too-long';
        next = found.previousId;
        await yieldIfDue(0);
      }
      const turns: StoredTurn[] = [];
      for (const each of [...ids].reverse()) {
        const found = turn.get(each);
        if (!found) return undefined;
        turns.push(found);
        await yieldIfDue(found.input.length + found.output.length);
      }
      return turns;
    },

    items: async (workspaceId, ids, { at, bytesMax }) => {
      const yieldIfDue = createYield();
      const wanted = new Map<
        string,
        { responseId: string; place: Place; at: [id: string, position: number][] }
      >();
      for (const itemId of ids) {
        const found = place.get({ itemId, workspaceId, at });
        if (found) {
          const key = found.place + found.responseId;
          const list = wanted.get(key) ?? { ...found, at: [] };
          list.at.push([itemId, found.position]);
          wanted.set(key, list);
        }
        await yieldIfDue(0);
      }
      const items = new Map<string, string>();
      let bytes = 0;
      for (const list of wanted.values()) {
        const text = lists[list.place].get(list.responseId) ?? '[]';
        bytes += text.length;
        if (bytes > bytesMax) return 'too-long';
        const all = JSON.parse(text) as unknown[];
        for (const [id, position] of list.at) {
          const item = all[position];
          if (item !== undefined) items.set(id, JSON.stringify(item));
        }
        await yieldIfDue(text.length);
      }
      return items;
    },
  };
}

/**
 * Returns a function that is called with the size of each row read, and waits for a turn of the event loop when due.
 */
function createYield(): (bytes: number) => Promise<void> | undefined {
  let left = bytesPerTurn;
  return (bytes) => {
    left -= bytes + rowBytes;
    if (left > 0) return undefined;
    left = bytesPerTurn;
    return nextTurn();
  };
}
