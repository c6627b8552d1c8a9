import { describe, expect, test } from 'vitest';
import type { KeyClaim } from '../../src/daemon/features/idempotency/index.ts';
import { dayMs, morning, type OpenStorage } from './records.ts';

function aClaim(requestId: string, changes: Partial<KeyClaim> = {}): KeyClaim {
  return {
    scope: 'key:key_1',
    key: 'once',
    fingerprint: 'aa',
    requestId,
    startedAt: morning,
    leaseUntil: morning + 1000,
    expiresAt: morning + dayMs,
    ...changes,
  };
}

const answer = { headers: { 'x-service-model': 'm' }, body: new TextEncoder().encode('{"a":"ü"}') };

/** What every engine promises about keys that make a call happen once. */
export function idempotencyStoreContract(open: OpenStorage): void {
  describe('idempotency keys', () => {
    test('go to exactly one of many who want them', async () => {
      const { idempotency } = await open();
      const claims = Array.from({ length: 300 }, (_, index) => idempotency.claim(aClaim(`req_${index}`)));
      const states = (await Promise.all(claims)).map(({ state }) => state);
      expect(states.filter((state) => state === 'mine')).toHaveLength(1);
      expect(states.filter((state) => state === 'running')).toHaveLength(299);
    });

    test('keep their answer as it was, byte for byte', async () => {
      const { idempotency } = await open();
      await idempotency.claim(aClaim('req_1'));
      expect(await idempotency.answer('key:key_1', 'once')).toBeUndefined();
      await idempotency.finish(aClaim('req_1'), answer);
      expect(await idempotency.claim(aClaim('req_2', { fingerprint: 'bb' }))).toEqual({
        state: 'done',
        fingerprint: 'aa',
        requestId: 'req_1',
      });
      const kept = await idempotency.answer('key:key_1', 'once');
      expect(kept?.headers).toEqual(answer.headers);
      expect(Buffer.from(kept?.body ?? []).equals(answer.body)).toBe(true);
      // Who has an answer cannot give the key back any more.
      await idempotency.release(aClaim('req_1'));
      expect((await idempotency.claim(aClaim('req_3'))).state).toBe('done');
    });

    test('mean something else to each caller', async () => {
      const { idempotency } = await open();
      for (const scope of ['key:key_1', 'key:key_2', 'login:1'])
        expect(await idempotency.claim(aClaim('req_1', { scope }))).toEqual({ state: 'mine' });
    });

    test('are free again when given back, when their call was lost, and when they expire', async () => {
      const { idempotency } = await open();
      await idempotency.claim(aClaim('req_1'));
      await idempotency.release(aClaim('req_2'));
      expect((await idempotency.claim(aClaim('req_2'))).state).toBe('running');
      await idempotency.release(aClaim('req_1'));
      expect((await idempotency.claim(aClaim('req_2'))).state).toBe('mine');

      const later = { startedAt: morning + 1000, leaseUntil: morning + 2000 };
      expect((await idempotency.claim(aClaim('req_3', later))).state).toBe('mine');
      // The one who lost it can neither keep an answer nor give it back.
      await idempotency.finish(aClaim('req_2'), answer);
      await idempotency.release(aClaim('req_2'));
      expect((await idempotency.claim(aClaim('req_4'))).state).toBe('running');

      await idempotency.finish(aClaim('req_3'), answer);
      const nextDay = { startedAt: morning + dayMs, expiresAt: morning + 2 * dayMs };
      expect((await idempotency.claim(aClaim('req_5', nextDay))).state).toBe('mine');
      expect(await idempotency.answer('key:key_1', 'once')).toBeUndefined();
    });

    test('of running calls are freed together, and answers stay', async () => {
      const { idempotency } = await open();
      expect(await idempotency.releaseAll()).toBe(0);
      await idempotency.claim(aClaim('req_1', { key: 'kept' }));
      await idempotency.finish(aClaim('req_1', { key: 'kept' }), answer);
      await idempotency.claim(aClaim('req_2'));
      expect(await idempotency.releaseAll()).toBe(1);
      expect((await idempotency.claim(aClaim('req_3'))).state).toBe('mine');
      expect((await idempotency.claim(aClaim('req_3', { key: 'kept' }))).state).toBe('done');
    });

    test('are dropped once they have expired', async () => {
      const { idempotency } = await open();
      for (let index = 0; index < 150; index += 1)
        await idempotency.claim(aClaim('req_1', { key: `k${index}`, expiresAt: morning + index }));
      let dropped = 0;
      for (let now = 1; now > 0; dropped += now) now = await idempotency.removeExpired(morning + 99, 1000);
      expect(dropped).toBe(100);
      expect((await idempotency.claim(aClaim('req_2', { key: 'k99' }))).state).toBe('mine');
      expect((await idempotency.claim(aClaim('req_2', { key: 'k120' }))).state).toBe('running');
    });
  });
}
