import type { ShoutRecord, ShoutsStore } from '../../../features/shouts/shouts-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Writer } from '../engine/writer.ts';
import { personColumns } from '../profile/store.ts';
import { personIn } from '../whispers/store.ts';

const select = `SELECT h.id, h.body, h.zone, h.created_at AS createdAt, h.updated_at AS updatedAt,
    ${personColumns('a', 'author.')}
  FROM shouts h JOIN users a ON a.number = h.author`;

// The first of a time is looked up by its index, so that what is older is not looked at.
const listSql = (inZone: string) => `${select} WHERE ${inZone} h.id < @before AND h.created_at >= @since
  AND h.id >= coalesce((SELECT id FROM shouts WHERE created_at >= @since ORDER BY created_at, id LIMIT 1), @before)
  ORDER BY h.id DESC LIMIT @limit`;
const laterSql = (inZone: string) => `${select} WHERE ${inZone} h.id > @after ORDER BY h.id LIMIT @limit`;
const zoned = 'h.zone = @zone AND';

type Row = Omit<ShoutRecord, 'author'> & Record<string, unknown>;

/** Shouts: read in the main thread a page at a time, written in the writer's. */
export function shoutsStore(database: Connection, writer: Writer): ShoutsStore {
  const prepare = (sql: string) => database.prepare<object, Row>(sql);
  const found = prepare(`${select} WHERE h.id = @id`);
  const lists = { all: prepare(listSql('')), zoned: prepare(listSql(zoned)) };
  const later = { all: prepare(laterSql('')), zoned: prepare(laterSql(zoned)) };
  const zones = database.prepare<object, { zone: string; count: number }>(
    `SELECT zone, count(*) AS count FROM shouts WHERE created_at >= @since
     GROUP BY zone ORDER BY count DESC, zone LIMIT @limit`,
  );
  const last = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM shouts').pluck();
  return {
    insert: (shout) => writer.write('shouts.insert', shout),
    find: async (id) => {
      const row = found.get({ id });
      return row && recordOf(row);
    },
    list: async ({ zone, since = 0 }, { limit, before = Number.MAX_SAFE_INTEGER }) => {
      const asked = { since, limit, before };
      const rows = zone === undefined ? lists.all.all(asked) : lists.zoned.all({ ...asked, zone });
      return rows.map(recordOf);
    },
    after: async (zone, page) => {
      const rows = zone === undefined ? later.all.all(page) : later.zoned.all({ ...page, zone });
      return rows.map(recordOf);
    },
    remove: (id, author) => writer.write('shouts.remove', { id, author }),
    zones: async (since, limit) => zones.all({ since, limit }),
    last: async () => last.get() ?? 0,
  };
}

function recordOf(row: Row): ShoutRecord {
  const { id, body, zone, createdAt, updatedAt } = row;
  return { id, body, zone, createdAt, updatedAt, author: personIn(row, 'author') };
}
