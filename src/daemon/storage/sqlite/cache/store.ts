import type { CachedAnswer, CacheStore } from '../../../features/cache/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Writer } from '../engine/writer.ts';

interface Sources {
  database: Connection;
  writer: Writer;
}

/** Answers that are given again. */
export function cacheStore({ database, writer }: Sources): CacheStore {
  const found = database.prepare<[string, string, number], CachedAnswer>(
    `SELECT workspace_id AS workspaceId, digest, model, provider_model AS providerModel, events,
            created_at AS createdAt, expires_at AS expiresAt
     FROM cached_answers WHERE workspace_id = ? AND digest = ? AND expires_at > ?`,
  );
  const size = database.prepare<[string], { entries: number; bytes: number }>(
    'SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM cached_answers WHERE workspace_id = ?',
  );
  return {
    find: async (workspaceId, digest, now) => found.get(workspaceId, digest, now),
    touch: (workspaceId, digest, at) =>
      writer.write('cache.touch', { workspaceId, digest, at }, { lane: 'bulk' }),
    put: (answer, bounds) =>
      writer.write('cache.put', { answer, bounds }, { lane: 'bulk', bytes: answer.events.length }),
    clear: (workspaceId) => writer.write('cache.clear', { workspaceId }, { lane: 'bulk' }),
    size: async (workspaceId) => size.get(workspaceId) ?? { entries: 0, bytes: 0 },
    removeExpired: (at, limit) => writer.write('cache.removeExpired', { at, limit }, { lane: 'bulk' }),
  };
}
