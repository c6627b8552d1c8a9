import type { CacheBounds, CachedAnswer, CacheStore } from '../../../features/cache/store.ts';
import {
  and,
  asc,
  columnsOf,
  count,
  eq,
  gt,
  integer,
  lte,
  type Orm,
  primaryKey,
  type SQL,
  sql,
  sqliteTable,
  text,
} from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';

/** Columns of a `CachedAnswer`, when it was last used, and its size. */
export const cachedAnswers = sqliteTable(
  'cached_answers',
  {
    workspaceId: text().notNull(),
    digest: text().notNull(),
    requestId: text(),
    model: text().notNull(),
    providerModel: text().notNull(),
    createdAt: integer().notNull(),
    usedAt: integer().notNull(),
    expiresAt: integer().notNull(),
    bytes: integer().notNull(),
    events: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.digest] })],
);

const bulk = { lane: 'bulk' } as const;

export function cacheStore({ orm, writer }: StoreContext<CacheWrites>): CacheStore {
  const { usedAt: _, bytes, ...answer } = columnsOf(cachedAnswers);
  const { placeholder } = sql;
  // Prepared, as each call that may use the cache runs it.
  const find = orm
    .select(answer)
    .from(cachedAnswers)
    .where(
      and(
        eq(cachedAnswers.workspaceId, placeholder('workspaceId')),
        eq(cachedAnswers.digest, placeholder('digest')),
        gt(cachedAnswers.expiresAt, placeholder('now')),
      ),
    )
    .prepare();
  return {
    find: async (workspaceId, digest, now) => find.get({ workspaceId, digest, now }),
    touch: (workspaceId, digest, at) => writer.write('cache.touch', { workspaceId, digest, at }, bulk),
    put: (record, bounds) =>
      writer.write('cache.put', { answer: record, bounds }, { lane: 'bulk', bytes: record.events.length }),
    clear: (workspaceId) => writer.write('cache.clear', { workspaceId }, bulk),
    size: async (workspaceId) =>
      orm
        .select({ entries: count(), bytes: sql<number>`coalesce(sum(${bytes}), 0)` })
        .from(cachedAnswers)
        .where(eq(cachedAnswers.workspaceId, workspaceId))
        .get() ?? { entries: 0, bytes: 0 },
    removeExpired: (at, limit) => writer.write('cache.removeExpired', { at, limit }, bulk),
  };
}

/** Rows deleted in one write: freeing pages takes time, during which calls wait for their holds. */
const removedMax = 64;
const { workspaceId, digest } = cachedAnswers;
const id = sql`(${workspaceId}, ${digest})`;

export function cacheWrites(orm: Orm) {
  const evict = ({ entriesMax, bytesMax }: CacheBounds): void => {
    const left = orm
      .select({ entries: count(), bytes: sql<number>`coalesce(sum(${cachedAnswers.bytes}), 0)` })
      .from(cachedAnswers)
      .get() ?? { entries: 0, bytes: 0 };
    const isOver = () => left.entries > entriesMax || left.bytes > bytesMax;
    if (!isOver()) return;
    const oldest = orm
      .select({ workspaceId, digest, bytes: cachedAnswers.bytes })
      .from(cachedAnswers)
      .orderBy(asc(cachedAnswers.usedAt), asc(cachedAnswers.createdAt))
      .limit(removedMax)
      .all();
    const removed: SQL[] = [];
    for (const answer of oldest) {
      if (!isOver()) break;
      removed.push(sql`(${answer.workspaceId}, ${answer.digest})`);
      left.entries -= 1;
      left.bytes -= answer.bytes;
    }
    orm
      .delete(cachedAnswers)
      .where(sql`${id} in (values ${sql.join(removed, sql`, `)})`)
      .run();
  };

  return {
    'cache.put': ({ answer, bounds }: { answer: CachedAnswer; bounds: CacheBounds }): void => {
      const row = { ...answer, usedAt: answer.createdAt, bytes: Buffer.byteLength(answer.events) };
      const target = [cachedAnswers.workspaceId, cachedAnswers.digest];
      orm.insert(cachedAnswers).values(row).onConflictDoUpdate({ target, set: row }).run();
      evict(bounds);
    },
    'cache.touch': ({
      workspaceId,
      digest,
      at,
    }: {
      workspaceId: string;
      digest: string;
      at: number;
    }): void => {
      orm
        .update(cachedAnswers)
        .set({ usedAt: at })
        .where(and(eq(cachedAnswers.workspaceId, workspaceId), eq(cachedAnswers.digest, digest)))
        .run();
    },
    'cache.clear': ({ workspaceId }: { workspaceId: string }): number =>
      orm.delete(cachedAnswers).where(eq(cachedAnswers.workspaceId, workspaceId)).run().changes,
    'cache.removeExpired': ({ at, limit }: { at: number; limit: number }): number => {
      const expired = orm
        .select({ workspaceId, digest })
        .from(cachedAnswers)
        .where(lte(cachedAnswers.expiresAt, at))
        .limit(Math.min(limit, removedMax));
      return orm.delete(cachedAnswers).where(sql`${id} in ${expired}`).run().changes;
    },
  };
}

export type CacheWrites = ReturnType<typeof cacheWrites>;
