import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuthenticator, sha256 } from '../../../../src/daemon/features/keys/index.ts';
import type { TokenRecord } from '../../../../src/daemon/features/tokens/index.ts';
import { makeSecret } from '../../../../src/shared/secrets.ts';
import { fakeWorld, passedBy } from '../../../support/fake-world.ts';
import { memoryKeysStore, memoryWorkspacesStore } from '../../../support/memory-stores.ts';

function place(changes: Partial<TokenRecord> = {}) {
  const world = fakeWorld();
  const workspacesStore = memoryWorkspacesStore();
  workspacesStore.addUser({ id: 'usr_ann', workspaces: [['ws_acme', 'owner']] });
  const secret = makeSecret('token', randomBytes);
  const record: TokenRecord = {
    id: 'tok_1',
    userId: 'usr_ann',
    digest: sha256(secret),
    name: 'test',
    abilities: ['profile'],
    createdAt: world.now(),
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    makerId: null,
    ...changes,
  };
  const touched: { id: string; at: number }[] = [];
  const keysStore = memoryKeysStore();
  const { changes: announced } = keysStore;
  const authentic = createAuthenticator({
    keysStore,
    changes: announced,
    workspacesStore,
    tokensStore: {
      byDigest: async (digest) => (digest === record.digest ? record : undefined),
      list: async () => [record],
      touch: async (uses) => void touched.push(...uses),
    },
    digest: sha256,
    now: world.now,
    passed: passedBy(world.now),
  });
  const ask = async () => await authentic.authenticate(`Bearer ${secret}`);
  return { world, authentic, announced, ask, touched };
}

test('a token identifies its user, their own workspace and its abilities', async () => {
  const { ask, world, authentic } = place();
  expect(await ask()).toMatchObject({
    kind: 'token',
    tokenId: 'tok_1',
    userId: 'usr_ann',
    workspaceId: 'ws_acme',
    abilities: new Set(['profile']),
  });
  expect(authentic.lastTokenUse('tok_1')).toBe(world.now());
});

test('a token is rejected once it has expired, even if it was just used', async () => {
  const { ask, world } = place({ expiresAt: fakeWorld().now() + 1000 });
  await ask();
  await world.advance(999);
  await ask();
  await world.advance(1);
  await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a revoked token is rejected, and what runs with it ends', async () => {
  const { ask, announced } = place();
  const caller = await ask();
  await announced.announce([{ topic: 'revocation', id: 'tok_1' }]);
  expect(caller.kind === 'token' && caller.revoked.aborted).toBe(true);
  await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(place({ revokedAt: 1 }).ask()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a token ends with its user’s membership in their own workspace', async () => {
  const { ask, announced } = place();
  const caller = await ask();
  await announced.announce([{ topic: 'departure', workspaceId: 'ws_acme', userId: 'usr_ann' }]);
  expect(caller.kind === 'token' && caller.revoked.aborted).toBe(true);
});

test('times of last use are stored at the end', async () => {
  const { ask, authentic, world, touched } = place();
  await ask();
  const ending = new AbortController();
  const kept = authentic.keepFlushed(world, ending.signal, () => {});
  ending.abort();
  await kept;
  expect(touched).toEqual([{ id: 'tok_1', at: world.now() }]);
});
