import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResponsesStore, StoredTurn } from '../../../features/inference/stored/responses-store.ts';
import type { Connection } from '../engine/connection.ts';

/** After so many bytes others get their turn, as these reads run in the main thread; a row is worth some too. */
const stretchBytes = 1024 * 1024;
const rowBytes = 4096;

type Place = 'input' | 'output';

interface Link {
  previousId: string | null;
  /** Of the items, without reading them. */
  bytes: number;
}

/** The reads of many stored responses at once: conversations that are continued, items that are referred to. */
export function responseReads(database: Connection): Pick<ResponsesStore, 'chain' | 'items'> {
  const visible = 'workspace_id = @workspaceId AND expires_at > @at';
  const link = database.prepare<[object], Link>(
    `SELECT previous_id AS previousId, octet_length(output) + octet_length(input) AS bytes
     FROM responses WHERE id = @id AND ${visible}`,
  );
  const turn = database.prepare<[string], StoredTurn>('SELECT id, input, output FROM responses WHERE id = ?');
  const place = database.prepare<[object], { responseId: string; place: Place; position: number }>(
    `SELECT response_id AS responseId, place, position FROM response_items JOIN responses ON id = response_id
     WHERE item_id = @itemId AND ${visible} ORDER BY created_at DESC, id DESC LIMIT 1`,
  );
  const lists = {
    input: database.prepare<[string], string>('SELECT input FROM responses WHERE id = ?').pluck(),
    output: database.prepare<[string], string>('SELECT output FROM responses WHERE id = ?').pluck(),
  };

  return {
    chain: async (workspaceId, id, { at, bytesMax }) => {
      const rest = restAfterStretches();
      const ids = new Set<string>();
      let bytes = 0;
      for (let next: string | null = id; next !== null; ) {
        // A response that follows itself can only come from a damaged file.
        const found: Link | undefined = ids.has(next) ? undefined : link.get({ id: next, workspaceId, at });
        if (!found) return undefined;
        ids.add(next);
        bytes += found.bytes;
        if (bytes > bytesMax) return 'too-long';
        next = found.previousId;
        await rest(0);
      }
      const turns: StoredTurn[] = [];
      for (const each of [...ids].reverse()) {
        const found = turn.get(each);
        if (!found) return undefined;
        turns.push(found);
        await rest(found.input.length + found.output.length);
      }
      return turns;
    },

    items: async (workspaceId, ids, { at, bytesMax }) => {
      const rest = restAfterStretches();
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
        await rest(0);
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
        await rest(text.length);
      }
      return items;
    },
  };
}

/** To be told of each row that was read: waits for a turn of the event loop when it is time. */
function restAfterStretches(): (bytes: number) => Promise<void> | undefined {
  let left = stretchBytes;
  return (bytes) => {
    left -= bytes + rowBytes;
    if (left > 0) return undefined;
    left = stretchBytes;
    return nextTurn();
  };
}
