import type { IdempotencyStore } from '../../../features/idempotency/store.ts';
import { and, eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { isRunningAt, idempotencyKeys as keys } from './tables.ts';
import type { IdempotencyWrites } from './writes.ts';

const bulk = { lane: 'bulk' } as const;

export function idempotencyStore({ orm, writer }: StoreContext<IdempotencyWrites>): IdempotencyStore {
  const hasRunning = (daemon: number) =>
    orm.select({ key: keys.key }).from(keys).where(isRunningAt(daemon)).limit(1).get() !== undefined;
  return {
    claim: (claim) => writer.write('idempotency.claim', claim),
    finish: (claim, kept) =>
      writer.write('idempotency.finish', { ...claim, ...kept }, { ...bulk, bytes: kept.body.length }),
    release: (claim) => writer.write('idempotency.release', claim),
    isRunning: async ({ scope, key }) => {
      const isRunning = and(eq(keys.scope, scope), eq(keys.key, key), eq(keys.state, 'running'));
      return orm.select({ key: keys.key }).from(keys).where(isRunning).get() !== undefined;
    },
    answer: async (scope, key) => {
      const isDone = and(eq(keys.scope, scope), eq(keys.key, key), eq(keys.state, 'done'));
      const { headers, answer: body } = orm.select().from(keys).where(isDone).get() ?? {};
      return headers && body ? { headers, body } : undefined;
    },
    // Usually none are left, and the start need not wait for a write then.
    releaseLeft: async (daemon) =>
      hasRunning(daemon) ? await writer.write('idempotency.releaseLeft', daemon) : 0,
    removeExpired: (at, limit) => writer.write('idempotency.removeExpired', { at, limit }, bulk),
  };
}
