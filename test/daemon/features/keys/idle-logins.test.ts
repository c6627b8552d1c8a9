import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LoginCaller } from '../../../../src/daemon/base/handler.ts';
import { createIdleLogins } from '../../../../src/daemon/features/keys/credential-ends.ts';

const aCaller = (loginId: string): LoginCaller => ({
  kind: 'login',
  loginId,
  userId: 'usr_1',
  workspaceId: 'ws_1',
  revoked: new AbortController().signal,
});

test('a login is ended exactly when it was not used for the time that it may idle', () => {
  const waits = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(waits, fc.constantFrom(null, 1000), (gaps, idleMs) => {
      let now = 0;
      const ended: string[] = [];
      const noted: number[] = [];
      const idle = createIdleLogins({
        revoke: (id) => ended.push(id),
        passed: { at: () => now, sure: () => now, noteExpiry: (_id, expiry) => noted.push(expiry) },
      });
      const caller = aCaller('key_1');
      idle.watch(caller, { idleMs, lastUsedAt: null, createdAt: 0 });
      for (const gap of gaps) {
        now += gap;
        const isEnded = idleMs !== null && gap >= idleMs;
        expect(idle.use(caller, now)).toBe(!isEnded);
        expect(ended.length > 0).toBe(isEnded);
        if (!isEnded) continue;
        expect(noted).toEqual([now - gap + 1000]);
        return;
      }
    }),
  );
});
