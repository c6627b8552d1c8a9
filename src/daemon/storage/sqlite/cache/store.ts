import type { CacheStore } from '../../../features/cache/store.ts';
import { and, columnsOf, count, eq, gt, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { cachedAnswers } from './tables.ts';
import type { CacheWrites } from './writes.ts';

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
