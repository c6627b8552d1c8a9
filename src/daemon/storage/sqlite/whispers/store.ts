import type {
  PersonShown,
  WhisperRecord,
  WhispersOf,
  WhispersStore,
} from '../../../features/whispers/whispers-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Writer } from '../engine/writer.ts';
import { personColumns } from '../profile/store.ts';

const select = `SELECT w.id, w.body, w.created_at AS createdAt, w.updated_at AS updatedAt, w.read_at AS readAt,
    ${personColumns('s', 'sender.')}, ${personColumns('r', 'recipient.')}
  FROM whispers w JOIN users s ON s.number = w.sender JOIN users r ON r.number = w.recipient`;

/** Each side is an index of its own, read in the order of ids and no further than a page. */
const idsOf = (sides: readonly string[], page: string) =>
  sides
    .map((side) => `SELECT id FROM (SELECT id FROM whispers WHERE ${side} AND ${page})`)
    .join(' UNION ALL ');
const all = ['sender = @person', 'recipient = @person'];
const between = ['sender = @person AND recipient = @peer', 'sender = @peer AND recipient = @person'];
const newestFirst = 'id < @before ORDER BY id DESC LIMIT @limit';
const oldestFirst = 'id > @after ORDER BY id LIMIT @limit';
const listSql = (sides: readonly string[]) =>
  `${select} WHERE w.id IN (${idsOf(sides, newestFirst)}) ORDER BY w.id DESC LIMIT @limit`;

const threadsSql = `SELECT max(last) AS last, sum(unread) AS unread FROM (
    SELECT recipient AS peer, max(id) AS last, 0 AS unread FROM whispers WHERE sender = @person GROUP BY recipient
    UNION ALL
    SELECT sender, max(id), sum(read_at IS NULL) FROM whispers WHERE recipient = @person GROUP BY sender
  ) GROUP BY peer HAVING max(last) < @before ORDER BY 1 DESC LIMIT @limit`;

/** A row of `select`: people are in it member by member. */
type Row = Omit<WhisperRecord, 'sender' | 'recipient'> & Record<string, unknown>;

/** Whispers: read in the main thread a page at a time, written in the writer's. */
export function whispersStore(database: Connection, writer: Writer): WhispersStore {
  const found = database.prepare<[number], Row>(`${select} WHERE w.id = ?`);
  const lists = {
    all: database.prepare<object, Row>(listSql(all)),
    with: database.prepare<object, Row>(listSql(between)),
  };
  const later = database.prepare<object, Row>(
    `${select} WHERE w.id IN (${idsOf(all, oldestFirst)}) ORDER BY w.id LIMIT @limit`,
  );
  const threads = database.prepare<object, { last: number; unread: number }>(threadsSql);
  const last = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM whispers').pluck();
  const find = (id: number) => {
    const row = found.get(id);
    return row && recordOf(row);
  };
  return {
    insert: (whisper) => writer.write('whispers.insert', whisper),
    find: async (id) => find(id),
    list: async ({ person, peer }, { limit, before }) => {
      const asked = { person, limit, before: before ?? Number.MAX_SAFE_INTEGER };
      const rows = peer === undefined ? lists.all.all(asked) : lists.with.all({ ...asked, peer });
      return rows.map(recordOf);
    },
    after: async (person, { limit, after }) => later.all({ person, limit, after }).map(recordOf),
    threads: async (person, { limit, before = Number.MAX_SAFE_INTEGER }) =>
      threads.all({ person, limit, before }).flatMap((row) => {
        const record = find(row.last);
        return record ? [{ last: record, unread: row.unread }] : [];
      }),
    markRead: (id, at) => writer.write('whispers.markRead', { id, at }),
    markAllRead: (of: WhispersOf, at) => writer.write('whispers.markAllRead', { ...of, at }),
    last: async () => last.get() ?? 0,
  };
}

function recordOf(row: Row): WhisperRecord {
  const { id, body, createdAt, updatedAt, readAt } = row;
  return {
    id,
    body,
    createdAt,
    updatedAt,
    readAt,
    sender: personIn(row, 'sender'),
    recipient: personIn(row, 'recipient'),
  };
}

/** The person whose columns begin with this name. */
export function personIn(row: Record<string, unknown>, name: string): PersonShown {
  return {
    number: row[`${name}.number`] as number,
    handle: row[`${name}.handle`] as string,
    name: row[`${name}.name`] as string,
    avatar: row[`${name}.avatar`] as string,
  };
}
