import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KeyCaller, KeyLimits } from '../../../../src/daemon/base/handler.ts';
import { createActiveKeys, createAuthenticator, sha256 } from '../../../../src/daemon/features/keys/index.ts';
import { makeSecret } from '../../../../src/shared/secrets.ts';
import { aKey } from '../../../storage/records.ts';
import { fakeWorld, passedBy } from '../../../support/fake-world.ts';
import { memoryKeysStore, memoryWorkspacesStore } from '../../../support/memory-stores.ts';

const limitsOf = (change: Partial<KeyLimits>): KeyLimits => ({
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
  ...change,
});

/** Active keys over a store that answers after `wait`. */
function place(wait: () => Promise<unknown> = async () => {}) {
  const world = fakeWorld();
  const store = memoryKeysStore();
  const secrets = {
    parent: makeSecret('api', world.randomBytes),
    child: makeSecret('api', world.randomBytes),
  };
  const insert = (name: 'parent' | 'child', parentId: string | null) =>
    store.records.set(`key_${name}`, aKey(`key_${name}`, { digest: sha256(secrets[name]), parentId }));
  insert('parent', null);
  insert('child', 'key_parent');
  const slow = {
    ...store,
    byDigest: async (digest: string) => {
      const record = await store.byDigest(digest);
      await wait();
      return record;
    },
    byId: async (workspace: string, id: string) => {
      const record = await store.byId(workspace, id);
      await wait();
      return record;
    },
  };
  const activeKeys = createActiveKeys({ store: slow, changes: store.changes, passed: passedBy(world.now) });
  const expired: string[] = [];
  const authentic = createAuthenticator({
    keysStore: slow,
    workspacesStore: memoryWorkspacesStore(),
    changes: store.changes,
    digest: sha256,
    now: world.now,
    passed: passedBy(world.now),
    activeKeys,
    onExpired: ({ keyId }) => expired.push(keyId),
  });
  const come = async (name: 'parent' | 'child') =>
    (await authentic.authenticate(`Bearer ${secrets[name]}`)) as KeyCaller;
  const set = async (name: 'parent' | 'child', limits: KeyLimits | null) => {
    await store.setLimits('ws_1', `key_${name}`, limits);
    await wait();
  };
  return { world, activeKeys, authentic, come, set, expired };
}

test('a change applies to later calls, whatever was being read meanwhile', async () => {
  const steps = fc.array(
    fc.record({
      by: fc.constantFrom('parent' as const, 'child' as const),
      sets: fc.boolean(),
    }),
    { minLength: 5, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), steps, async (scheduler, all) => {
      const { come, set } = place(() => scheduler.schedule(Promise.resolve(), 'reads'));
      const last = { parent: 0, child: 0 };
      let count = 0;
      const runs: Promise<void>[] = [];
      for (const { by, sets } of all) {
        if (sets) {
          count += 1;
          const rate = count;
          await scheduler.waitFor(set(by, limitsOf({ requestsPerMinute: rate })));
          last[by] = rate;
        } else {
          const atLeast = { ...last };
          const check = (caller: KeyCaller) => {
            const own = caller.policy;
            const rateOf = (it: typeof own) => it?.limits?.requestsPerMinute ?? 0;
            expect(rateOf(own)).toBeGreaterThanOrEqual(atLeast[by]);
            if (by === 'child') expect(rateOf(own?.parent)).toBeGreaterThanOrEqual(atLeast.parent);
            expect(own?.isRestricted).toBe(rateOf(own) > 0 || rateOf(own?.parent) > 0);
          };
          runs.push(come(by).then(check));
          if (scheduler.count() > 0) await scheduler.waitOne();
        }
      }
      await scheduler.waitFor(Promise.all(runs));
    }),
    { numRuns: 1000 },
  );
});

describe('a key that expires', () => {
  test('ends what runs with it and its descendants, once, and can be extended', async () => {
    const { world, authentic, come, set } = place();
    const stop = new AbortController();
    const watching = authentic.keepExpiring(world, stop.signal, () => {});
    const before = { parent: await come('parent'), child: await come('child') };
    await set('parent', limitsOf({ expiresAt: world.now() + 5_000 }));
    await world.advance(4_999);
    expect([before.parent.revoked.aborted, before.child.revoked.aborted]).toEqual([false, false]);
    await world.advance(2);
    expect(before.parent.revoked.reason).toMatchObject({ code: 'limit_reached', param: 'limits.expires_at' });
    expect(before.child.revoked.aborted).toBe(true);
    for (const name of ['parent', 'child'] as const) {
      await expect(come(name)).rejects.toMatchObject({ code: 'limit_reached', param: 'limits.expires_at' });
    }
    await set('parent', limitsOf({ expiresAt: world.now() + 60_000 }));
    const after = await come('child');
    expect(after.revoked.aborted).toBe(false);
    await world.advance(60_001);
    expect(after.revoked.aborted).toBe(true);
    stop.abort();
    await watching;
  });

  test('is rejected from that moment, before the watch notices', async () => {
    const { world, come, set, expired } = place();
    await come('parent');
    await set('parent', limitsOf({ expiresAt: world.now() + 5_000 }));
    await world.advance(5_000);
    await expect(come('parent')).rejects.toMatchObject({ code: 'limit_reached' });
    expect(expired).toEqual(['key_parent']);
  });
});
