import type { CacheBounds, CachedAnswer } from '../../../features/cache/store.ts';
import type { Connection } from '../engine/connection.ts';

/** Freeing pages takes time, and calls wait for their holds meanwhile. */
const removedAtOnce = 64;

export function cacheCommands(database: Connection) {
  const put = database.prepare<[object]>(
    `INSERT INTO cached_answers
       (workspace_id, digest, model, provider_model, created_at, used_at, expires_at, bytes, events)
     VALUES (@workspaceId, @digest, @model, @providerModel, @createdAt, @createdAt, @expiresAt, @bytes, @events)
     ON CONFLICT (workspace_id, digest) DO UPDATE SET
       model = excluded.model, provider_model = excluded.provider_model, created_at = excluded.created_at,
       used_at = excluded.used_at, expires_at = excluded.expires_at, bytes = excluded.bytes, events = excluded.events`,
  );
  const total = database.prepare<[], { entries: number; bytes: number }>(
    'SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM cached_answers',
  );
  const oldest = database.prepare<[], { rowid: number; bytes: number }>(
    `SELECT rowid, bytes FROM cached_answers ORDER BY used_at, rowid LIMIT ${removedAtOnce}`,
  );
  const remove = database.prepare<[number]>('DELETE FROM cached_answers WHERE rowid = ?');
  const touch = database.prepare<[object]>(
    'UPDATE cached_answers SET used_at = @at WHERE workspace_id = @workspaceId AND digest = @digest',
  );
  const clear = database.prepare<[string]>('DELETE FROM cached_answers WHERE workspace_id = ?');
  const expire = database.prepare<[number, number]>(
    'DELETE FROM cached_answers WHERE rowid IN (SELECT rowid FROM cached_answers WHERE expires_at <= ? LIMIT ?)',
  );

  const evict = ({ entriesMax, bytesMax }: CacheBounds): void => {
    const left = total.get() ?? { entries: 0, bytes: 0 };
    const isOver = () => left.entries > entriesMax || left.bytes > bytesMax;
    if (!isOver()) return;
    for (const { rowid, bytes } of oldest.all()) {
      if (!isOver()) return;
      remove.run(rowid);
      left.entries -= 1;
      left.bytes -= bytes;
    }
  };

  return {
    'cache.put': ({ answer, bounds }: { answer: CachedAnswer; bounds: CacheBounds }): void => {
      put.run({ ...answer, bytes: Buffer.byteLength(answer.events) });
      evict(bounds);
    },
    'cache.touch': (used: { workspaceId: string; digest: string; at: number }): void => {
      touch.run(used);
    },
    'cache.clear': ({ workspaceId }: { workspaceId: string }): number => clear.run(workspaceId).changes,
    'cache.removeExpired': ({ at, limit }: { at: number; limit: number }): number =>
      expire.run(at, Math.min(limit, removedAtOnce)).changes,
  };
}
