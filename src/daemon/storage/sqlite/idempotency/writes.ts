import type { Claimed, KeyClaim, StoredAnswer } from '../../../features/idempotency/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, inArray, lte, type Orm } from '../engine/orm.ts';
import { isRunningAt, idempotencyKeys as keys } from './tables.ts';

type Holder = Pick<KeyClaim, 'scope' | 'key' | 'requestId'>;

/** Rows deleted in one write: freeing pages takes time, during which calls wait for their holds. */
const removedMax = 64;

export function idempotencyWrites(database: Connection, orm: Orm, daemon: number) {
  const claim = database.prepare<[object]>(
    `INSERT INTO idempotency_keys
       (scope, key, fingerprint, request_id, state, started_at, lease_until, expires_at, daemon)
     VALUES (@scope, @key, @fingerprint, @requestId, 'running', @startedAt, @leaseUntil, @expiresAt, ${daemon})
     ON CONFLICT (scope, key) DO UPDATE SET
       fingerprint = excluded.fingerprint, request_id = excluded.request_id, state = 'running',
       started_at = excluded.started_at, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
       daemon = excluded.daemon, headers = NULL, answer = NULL
     WHERE idempotency_keys.expires_at <= excluded.started_at
       OR (idempotency_keys.state = 'running' AND idempotency_keys.lease_until <= excluded.started_at)`,
  );
  const holder = database.prepare<
    [object],
    { state: 'running' | 'done'; fingerprint: string; requestId: string }
  >(
    `SELECT state, fingerprint, request_id AS requestId FROM idempotency_keys
     WHERE scope = @scope AND key = @key`,
  );
  const ofClaim = ({ scope, key, requestId }: Holder) =>
    and(eq(keys.scope, scope), eq(keys.key, key), eq(keys.requestId, requestId));

  return {
    'idempotency.claim': (data: KeyClaim): Claimed => {
      if (claim.run(data).changes > 0) return { state: 'mine' };
      const { scope, key } = data;
      const found = holder.get({ scope, key });
      if (!found)
        throw new Error('an idempotency key could not be claimed, but is not claimed by another call');
      return found.state === 'done'
        ? { ...found, state: 'done' }
        : { state: 'running', fingerprint: found.fingerprint };
    },
    'idempotency.finish': ({ headers, body, ...claimed }: Holder & StoredAnswer): void => {
      orm
        .update(keys)
        .set({ state: 'done', headers, answer: Buffer.from(body) })
        .where(ofClaim(claimed))
        .run();
    },
    'idempotency.release': (claimed: Holder): void => {
      orm
        .delete(keys)
        .where(and(ofClaim(claimed), eq(keys.state, 'running')))
        .run();
    },
    'idempotency.releaseLeft': (daemon: number): number =>
      orm.delete(keys).where(isRunningAt(daemon)).run().changes,
    'idempotency.removeExpired': ({ at, limit }: { at: number; limit: number }): number => {
      const expired = orm
        .select({ scope: keys.scope, key: keys.key })
        .from(keys)
        .where(lte(keys.expiresAt, at))
        .orderBy(keys.expiresAt)
        .limit(Math.min(limit, removedMax))
        .all();
      for (const scope of new Set(expired.map((each) => each.scope))) {
        const named = expired.filter((each) => each.scope === scope).map(({ key }) => key);
        const those = and(eq(keys.scope, scope), inArray(keys.key, named), lte(keys.expiresAt, at));
        orm.delete(keys).where(those).run();
      }
      return expired.length;
    },
  };
}

export type IdempotencyWrites = ReturnType<typeof idempotencyWrites>;
