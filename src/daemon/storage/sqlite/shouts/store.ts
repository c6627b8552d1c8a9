import type { ShoutsStore } from '../../../features/shouts/store.ts';
import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  integer,
  lt,
  max,
  type Orm,
  sql,
  sqliteTable,
  text,
} from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { users } from '../workspaces/tables.ts';

export const shouts = sqliteTable('shouts', {
  id: integer().primaryKey({ autoIncrement: true }),
  author: integer().notNull(),
  zone: text().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  body: text().notNull(),
});

export function shoutsStore({ orm, writer }: StoreContext<ShoutsWrites>): ShoutsStore {
  const { id, body, zone, createdAt, updatedAt } = shouts;
  const { number, handle, name, avatar } = users;
  const records = () =>
    orm
      .select({ id, body, zone, createdAt, updatedAt, author: { number, handle, name, avatar } })
      .from(shouts)
      .innerJoin(users, eq(number, shouts.author));
  const inZone = (wanted: string | undefined) => (wanted === undefined ? undefined : eq(zone, wanted));
  // The first shout since a time is found by its index, so that older ones are not scanned.
  const isSince = (since: number) =>
    and(
      gte(createdAt, since),
      gte(
        id,
        sql`coalesce((SELECT id FROM shouts WHERE created_at >= ${since} ORDER BY created_at, id LIMIT 1),
          ${Number.MAX_SAFE_INTEGER})`,
      ),
    );

  return {
    insert: (shout) => writer.write('shouts.insert', shout),
    find: async (wanted) => records().where(eq(id, wanted)).get(),
    list: async ({ zone: wanted, since = 0 }, { limit, before = Number.MAX_SAFE_INTEGER }) =>
      records()
        .where(and(inZone(wanted), lt(id, before), isSince(since)))
        .orderBy(desc(id))
        .limit(limit)
        .all(),
    after: async (wanted, { limit, after }) =>
      records()
        .where(and(inZone(wanted), gt(id, after)))
        .orderBy(asc(id))
        .limit(limit)
        .all(),
    remove: (removed, author) => writer.write('shouts.remove', { id: removed, author }),
    zones: async (since, limit) =>
      orm
        .select({ zone: sql<string>`max(${zone})`, count: count() })
        .from(shouts)
        .where(gte(createdAt, since))
        // Not by the index of zones, which would read all shouts.
        .groupBy(sql`${zone} || ''`)
        .orderBy(desc(count()), sql`max(${zone})`)
        .limit(limit)
        .all(),
    last: async () =>
      orm
        .select({ id: max(id) })
        .from(shouts)
        .get()?.id ?? 0,
  };
}

export function shoutsWrites(orm: Orm) {
  return {
    'shouts.insert': ({ at, ...shout }: Parameters<ShoutsStore['insert']>[0]): number => {
      const row = { ...shout, createdAt: at, updatedAt: at };
      return orm.insert(shouts).values(row).returning({ id: shouts.id }).get().id;
    },
    'shouts.remove': ({ id, author }: { id: number; author: number }): boolean =>
      orm
        .delete(shouts)
        .where(and(eq(shouts.id, id), eq(shouts.author, author)))
        .run().changes > 0,
  };
}

export type ShoutsWrites = ReturnType<typeof shoutsWrites>;
