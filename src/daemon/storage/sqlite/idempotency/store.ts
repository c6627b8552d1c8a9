import type { IdempotencyStore } from '../../../features/idempotency/idempotency-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Writer } from '../engine/writer.ts';

interface Sources {
  database: Connection;
  writer: Writer;
}

/** Keys that make a call happen once: claimed and given back in the writer's thread, answers read in the main one. */
export function idempotencyStore({ database, writer }: Sources): IdempotencyStore {
  const answer = database.prepare<[string, string], { headers: string; body: Uint8Array }>(
    `SELECT headers, answer AS body FROM idempotency_keys WHERE scope = ? AND key = ? AND state = 'done'`,
  );
  const anyRunning = database
    .prepare<[], number>(`SELECT 1 FROM idempotency_keys WHERE state = 'running' LIMIT 1`)
    .pluck();
  return {
    claim: (claim) => writer.write('idempotency.claim', claim),
    finish: (claim, kept) =>
      writer.write('idempotency.finish', { ...claim, ...kept }, { lane: 'bulk', bytes: kept.body.length }),
    release: (claim) => writer.write('idempotency.release', claim),
    answer: async (scope, key) => {
      const found = answer.get(scope, key);
      return found && { headers: JSON.parse(found.headers) as Record<string, string>, body: found.body };
    },
    // Usually there are none, and a start need not wait for a write then.
    releaseAll: async () => (anyRunning.get() ? await writer.write('idempotency.releaseAll', {}) : 0),
    removeExpired: (at, limit) => writer.write('idempotency.removeExpired', { at, limit }, { lane: 'bulk' }),
  };
}
