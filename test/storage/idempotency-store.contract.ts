import { describe, expect, test } from 'vitest';
import type { KeyClaim } from '../../src/daemon/features/idempotency/store.ts';
import { aHold, aSettlement, aUsage, dayMs, morning, type OpenStorage } from './records.ts';

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

export function idempotencyStoreContract(open: OpenStorage): void {
  describe('idempotency keys', () => {
    test('are claimed by exactly one of many calls', async () => {
      const { idempotency } = await open();
      const claims = Array.from({ length: 300 }, (_, index) => idempotency.claim(aClaim(`req_${index}`)));
      const states = (await Promise.all(claims)).map(({ state }) => state);
      expect(states.filter((state) => state === 'mine')).toHaveLength(1);
      expect(states.filter((state) => state === 'running')).toHaveLength(299);
    });

    test('are running until they have an answer or are released', async () => {
      const { idempotency } = await open();
      expect(await idempotency.isRunning(aClaim('req_1'))).toBe(false);
      await idempotency.claim(aClaim('req_1'));
      expect(await idempotency.isRunning(aClaim('req_2'))).toBe(true);
      await idempotency.release(aClaim('req_1'));
      expect(await idempotency.isRunning(aClaim('req_2'))).toBe(false);
      await idempotency.claim(aClaim('req_2'));
      await idempotency.finish(aClaim('req_2'), answer);
      expect(await idempotency.isRunning(aClaim('req_2'))).toBe(false);
    });

    test('keep their answer byte for byte', async () => {
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
      // A key with an answer cannot be released.
      await idempotency.release(aClaim('req_1'));
      expect((await idempotency.claim(aClaim('req_3'))).state).toBe('done');
    });

    test.each([
      ['after its hold', true, 'short'],
      ['in the same turn as its hold', false, 'short'],
      ['with a long answer', true, 'long '.repeat(50_000)],
    ])('store the answer together with the settlement of their call, %s', async (_when, isApart, text) => {
      const { idempotency, metering, daemons } = await open();
      await idempotency.claim(aClaim('req_1'));
      const held = metering.hold(aHold('req_1', { streamed: false }));
      if (isApart) await held;
      const body = new TextEncoder().encode(text);
      const place = { scope: 'key:key_1', key: 'once' };
      expect(await metering.settle({ ...aSettlement('req_1'), answer: { ...place, ...answer, body } })).toBe(
        1,
      );
      expect(await metering.leftHolds(daemons.own)).toEqual([]);
      expect(await metering.usage('req_1')).toEqual(aUsage('req_1'));
      // As at a start after the daemon was killed.
      expect(await idempotency.releaseLeft(daemons.own)).toBe(0);
      expect(await idempotency.claim(aClaim('req_2'))).toMatchObject({ state: 'done', requestId: 'req_1' });
      const kept = await idempotency.answer('key:key_1', 'once');
      expect(kept?.headers).toEqual(answer.headers);
      expect(Buffer.from(kept?.body ?? []).equals(body)).toBe(true);
    });

    test('have no answer if the settlement was refused, or if another call holds the key by then', async () => {
      const { idempotency, metering } = await open();
      const place = { scope: 'key:key_1', key: 'once' };
      await idempotency.claim(aClaim('req_1'));
      await metering.settle(aSettlement('req_1'));
      const again = { ...aSettlement('req_1'), answer: { ...place, ...answer } };
      await expect(metering.settle(again)).rejects.toMatchObject({ code: 'conflict' });
      await metering.settle({ ...aSettlement('req_2'), answer: { ...place, ...answer } });
      expect((await idempotency.claim(aClaim('req_3'))).state).toBe('running');
    });

    test('replace an answer by a later one of the same call', async () => {
      const { idempotency } = await open();
      await idempotency.claim(aClaim('req_1'));
      await idempotency.finish(aClaim('req_1'), answer);
      await idempotency.finish(aClaim('req_1'), { ...answer, headers: {} });
      expect((await idempotency.answer('key:key_1', 'once'))?.headers).toEqual({});
    });

    test('are separate for each caller', async () => {
      const { idempotency } = await open();
      for (const scope of ['key:key_1', 'key:key_2', 'login:1'])
        expect(await idempotency.claim(aClaim('req_1', { scope }))).toEqual({ state: 'mine' });
    });

    test('are free again when released, when their lease ends, and when they expire', async () => {
      const { idempotency } = await open();
      await idempotency.claim(aClaim('req_1'));
      await idempotency.release(aClaim('req_2'));
      expect((await idempotency.claim(aClaim('req_2'))).state).toBe('running');
      await idempotency.release(aClaim('req_1'));
      expect((await idempotency.claim(aClaim('req_2'))).state).toBe('mine');

      const later = { startedAt: morning + 1000, leaseUntil: morning + 2000 };
      expect((await idempotency.claim(aClaim('req_3', later))).state).toBe('mine');
      // The call that lost the key can neither store an answer nor release it.
      await idempotency.finish(aClaim('req_2'), answer);
      await idempotency.release(aClaim('req_2'));
      expect((await idempotency.claim(aClaim('req_4'))).state).toBe('running');

      await idempotency.finish(aClaim('req_3'), answer);
      const nextDay = { startedAt: morning + dayMs, expiresAt: morning + 2 * dayMs };
      expect((await idempotency.claim(aClaim('req_5', nextDay))).state).toBe('mine');
      expect(await idempotency.answer('key:key_1', 'once')).toBeUndefined();
    });

    test('of running calls are released together, and answers stay', async () => {
      const { idempotency, daemons } = await open();
      expect(await idempotency.releaseLeft(daemons.own)).toBe(0);
      await idempotency.claim(aClaim('req_1', { key: 'kept' }));
      await idempotency.finish(aClaim('req_1', { key: 'kept' }), answer);
      await idempotency.claim(aClaim('req_2'));
      expect(await idempotency.releaseLeft(daemons.own + 1)).toBe(0);
      expect(await idempotency.releaseLeft(daemons.own)).toBe(1);
      expect((await idempotency.claim(aClaim('req_3'))).state).toBe('mine');
      expect((await idempotency.claim(aClaim('req_3', { key: 'kept' }))).state).toBe('done');
    });

    test('are deleted once expired', async () => {
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
