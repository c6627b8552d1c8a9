import type {
  Claimed,
  IdempotencyStore,
  KeyClaim,
  StoredAnswer,
} from '../../../features/idempotency/store.ts';
import type { Connection } from '../engine/connection.ts';
import {
  and,
  blob,
  eq,
  inArray,
  integer,
  lte,
  type Orm,
  primaryKey,
  sql,
  sqliteTable,
  text,
} from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';

/** Claimed idempotency keys; `headers` and `answer` are set once a key is `done`. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    scope: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    requestId: text().notNull(),
    state: text().$type<'running' | 'done'>().notNull(),
    startedAt: integer().notNull(),
    leaseUntil: integer().notNull(),
    expiresAt: integer().notNull(),
    headers: text({ mode: 'json' }).$type<Record<string, string>>(),
    answer: blob({ mode: 'buffer' }).$type<Uint8Array>(),
    daemon: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.scope, table.key] })],
);

/** With a literal, as SQLite does not use a partial index for a bound value. */
export const isRunningAt = (daemon: number) =>
  sql`${idempotencyKeys.state} = 'running' and ${idempotencyKeys.daemon} = ${daemon}`;

const bulk = { lane: 'bulk' } as const;

export function idempotencyStore({ orm, writer }: StoreContext<IdempotencyWrites>): IdempotencyStore {
  const hasRunning = (daemon: number) =>
    orm
      .select({ key: idempotencyKeys.key })
      .from(idempotencyKeys)
      .where(isRunningAt(daemon))
      .limit(1)
      .get() !== undefined;
  return {
    claim: (claim) => writer.write('idempotency.claim', claim),
    finish: (claim, kept) =>
      writer.write('idempotency.finish', { ...claim, ...kept }, { ...bulk, bytes: kept.body.length }),
    release: (claim) => writer.write('idempotency.release', claim),
    isRunning: async ({ scope, key }) => {
      const isRunning = and(
        eq(idempotencyKeys.scope, scope),
        eq(idempotencyKeys.key, key),
        eq(idempotencyKeys.state, 'running'),
      );
      return (
        orm.select({ key: idempotencyKeys.key }).from(idempotencyKeys).where(isRunning).get() !== undefined
      );
    },
    answer: async (scope, key) => {
      const isDone = and(
        eq(idempotencyKeys.scope, scope),
        eq(idempotencyKeys.key, key),
        eq(idempotencyKeys.state, 'done'),
      );
      const { headers, answer: body } = orm.select().from(idempotencyKeys).where(isDone).get() ?? {};
      return headers && body ? { headers, body } : undefined;
    },
    // Usually none are left, and the start need not wait for a write then.
    releaseLeft: async (daemon) =>
      hasRunning(daemon) ? await writer.write('idempotency.releaseLeft', daemon) : 0,
    removeExpired: (at, limit) => writer.write('idempotency.removeExpired', { at, limit }, bulk),
  };
}

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
    and(
      eq(idempotencyKeys.scope, scope),
      eq(idempotencyKeys.key, key),
      eq(idempotencyKeys.requestId, requestId),
    );

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
        .update(idempotencyKeys)
        .set({ state: 'done', headers, answer: Buffer.from(body) })
        .where(ofClaim(claimed))
        .run();
    },
    'idempotency.release': (claimed: Holder): void => {
      orm
        .delete(idempotencyKeys)
        .where(and(ofClaim(claimed), eq(idempotencyKeys.state, 'running')))
        .run();
    },
    'idempotency.releaseLeft': (daemon: number): number =>
      orm.delete(idempotencyKeys).where(isRunningAt(daemon)).run().changes,
    'idempotency.removeExpired': ({ at, limit }: { at: number; limit: number }): number => {
      const expired = orm
        .select({ scope: idempotencyKeys.scope, key: idempotencyKeys.key })
        .from(idempotencyKeys)
        .where(lte(idempotencyKeys.expiresAt, at))
        .orderBy(idempotencyKeys.expiresAt)
        .limit(Math.min(limit, removedMax))
        .all();
      for (const scope of new Set(expired.map((each) => each.scope))) {
        const named = expired.filter((each) => each.scope === scope).map(({ key }) => key);
        const those = and(
          eq(idempotencyKeys.scope, scope),
          inArray(idempotencyKeys.key, named),
          lte(idempotencyKeys.expiresAt, at),
        );
        orm.delete(idempotencyKeys).where(those).run();
      }
      return expired.length;
    },
  };
}

export type IdempotencyWrites = ReturnType<typeof idempotencyWrites>;
