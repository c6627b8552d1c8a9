import type {
  PersonShown,
  WhisperRecord,
  WhispersOf,
  WhispersStore,
} from '../../../features/whispers/store.ts';
import { and, eq, integer, isNull, type Orm, sqliteTable, text } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';

export const whispers = sqliteTable('whispers', {
  id: integer().primaryKey({ autoIncrement: true }),
  sender: integer().notNull(),
  recipient: integer().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  readAt: integer(),
  body: text().notNull(),
});

const personMembers = ['number', 'handle', 'name', 'avatar'] as const;

/** The members of a person, named like `sender.handle`. */
function personColumns(alias: string, name: string): string {
  return personMembers.map((member) => `${alias}.${member} AS "${name}.${member}"`).join(', ');
}

const select = `SELECT w.id, w.body, w.created_at AS createdAt, w.updated_at AS updatedAt, w.read_at AS readAt,
    ${personColumns('s', 'sender')}, ${personColumns('r', 'recipient')}
  FROM whispers w JOIN users s ON s.number = w.sender JOIN users r ON r.number = w.recipient`;

/** Each side has its own index, which is read in the order of ids and no further than a page. */
const idsOf = (sides: readonly string[], page: string) =>
  sides
    .map((side) => `SELECT id FROM (SELECT id FROM whispers WHERE ${side} AND ${page}) AS side`)
    .join(' UNION ALL ');
const all = ['sender = @person', 'recipient = @person'];
const between = ['sender = @person AND recipient = @peer', 'sender = @peer AND recipient = @person'];
const newestFirst = 'id < @before ORDER BY id DESC LIMIT @limit';
const oldestFirst = 'id > @after ORDER BY id LIMIT @limit';
const listSql = (sides: readonly string[]) =>
  `${select} WHERE w.id IN (${idsOf(sides, newestFirst)}) ORDER BY w.id DESC LIMIT @limit`;

/** All peers on one side, each found in the index after the one before, however many whispers are between them. */
const peersOf = (name: string, own: string, other: string) => {
  const next = (where: string) => `SELECT min(${other}) FROM whispers WHERE ${own} = @person ${where}`;
  return `${name} (peer) AS (
    ${next('')} UNION ALL SELECT (${next(`AND ${other} > peer`)}) FROM ${name} WHERE peer IS NOT NULL)`;
};

const threadsSql = `WITH RECURSIVE ${peersOf('recipients', 'sender', 'recipient')}, ${peersOf('senders', 'recipient', 'sender')},
  threads AS (SELECT peer,
      max(coalesce((SELECT max(id) FROM whispers WHERE sender = @person AND recipient = peer), 0),
        coalesce((SELECT max(id) FROM whispers WHERE recipient = @person AND sender = peer), 0)) AS last
    FROM (SELECT peer FROM recipients UNION SELECT peer FROM senders) AS peers WHERE peer IS NOT NULL),
  page AS (SELECT peer, last FROM threads WHERE last < @before ORDER BY last DESC LIMIT @limit)
  SELECT last, (SELECT count(*) FROM whispers WHERE recipient = @person AND sender = peer AND read_at IS NULL) AS unread
  FROM page ORDER BY last DESC`;

/** A row of `select`, with people as flat columns. */
type Row = Omit<WhisperRecord, 'sender' | 'recipient'> & Record<string, unknown>;

/** Plain SQL, because Drizzle cannot express a union of limited index scans as a subquery of IN. */
export function whispersStore({ database, writer }: StoreContext<WhispersWrites>): WhispersStore {
  const found = database.prepare<[number], Row>(`${select} WHERE w.id = ?`);
  const lists = {
    all: database.prepare<object, Row>(listSql(all)),
    between: database.prepare<object, Row>(listSql(between)),
  };
  const later = database.prepare<object, Row>(
    `${select} WHERE w.id IN (${idsOf(all, oldestFirst)}) ORDER BY w.id LIMIT @limit`,
  );
  const threads = database.prepare<object, { last: number; unread: number }>(threadsSql);
  const last = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM whispers').pluck();
  const find = (id: number) => {
    const row = found.get(id);
    return row && toRecord(row);
  };
  return {
    insert: (whisper) => writer.write('whispers.insert', whisper),
    find: async (id) => find(id),
    list: async ({ person, peer }, { limit, before = Number.MAX_SAFE_INTEGER }) => {
      const page = { person, limit, before };
      const rows = peer === undefined ? lists.all.all(page) : lists.between.all({ ...page, peer });
      return rows.map(toRecord);
    },
    after: async (person, { limit, after }) => later.all({ person, limit, after }).map(toRecord),
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

function toRecord({ id, body, createdAt, updatedAt, readAt, ...people }: Row): WhisperRecord {
  const person = (name: string) =>
    Object.fromEntries(personMembers.map((member) => [member, people[`${name}.${member}`]])) as PersonShown;
  return { id, body, createdAt, updatedAt, readAt, sender: person('sender'), recipient: person('recipient') };
}

export function whispersWrites(orm: Orm) {
  return {
    'whispers.insert': ({ at, ...whisper }: Parameters<WhispersStore['insert']>[0]): number => {
      const row = { ...whisper, createdAt: at, updatedAt: at };
      return orm.insert(whispers).values(row).returning({ id: whispers.id }).get().id;
    },
    'whispers.markRead': ({ id, at }: { id: number; at: number }): boolean =>
      orm
        .update(whispers)
        .set({ readAt: at, updatedAt: at })
        .where(and(eq(whispers.id, id), isNull(whispers.readAt)))
        .run().changes > 0,
    'whispers.markAllRead': ({ person, peer, at }: WhispersOf & { at: number }): number[] => {
      const fromPeer = peer === undefined ? undefined : eq(whispers.sender, peer);
      return orm
        .update(whispers)
        .set({ readAt: at, updatedAt: at })
        .where(and(eq(whispers.recipient, person), isNull(whispers.readAt), fromPeer))
        .returning({ id: whispers.id })
        .all()
        .map(({ id }) => id)
        .toSorted((a, b) => a - b);
    },
  };
}

export type WhispersWrites = ReturnType<typeof whispersWrites>;
