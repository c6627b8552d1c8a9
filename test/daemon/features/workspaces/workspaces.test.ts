import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../../../src/daemon/base/handler.ts';
import { sha256 } from '../../../../src/daemon/features/keys/index.ts';
import {
  bootstrap,
  createWorkspaces,
  type FirstSecrets,
  guardOwner,
} from '../../../../src/daemon/features/workspaces/index.ts';
import { LocalChanges } from '../../../../src/daemon/storage/local-changes.ts';
import { getStatus } from '../../../../src/shared/contract/daemon.ts';
import type { Endpoint } from '../../../../src/shared/contract/endpoint.ts';
import { getKey } from '../../../../src/shared/contract/keys.ts';
import { idMaker } from '../../../../src/shared/ids.ts';
import { makeSecret, parseSecret } from '../../../../src/shared/secrets.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { memoryWorkspacesStore } from '../../../support/memory-stores.ts';

const noFiles: FirstSecrets = { login: undefined, defaultKey: undefined };

let store: ReturnType<typeof memoryWorkspacesStore>;
let issued: Map<string, { name: string; userId: string; workspaceId: string }>;
let revoked: Set<string>;

function start(files: FirstSecrets) {
  const world = fakeWorld();
  return bootstrap(
    {
      store,
      keys: {
        standing: async (secret) =>
          revoked.has(secret) ? 'ended' : issued.has(secret) ? 'active' : 'unknown',
        issueFor: async (owner, name) => {
          const secret = makeSecret('api', randomBytes);
          issued.set(secret, { name, ...owner });
          return { secret };
        },
      },
      digest: sha256,
      makeId: idMaker(world.now, randomBytes),
      randomBytes,
      now: world.now,
      loginName: 'local',
    },
    files,
  );
}

beforeEach(() => {
  store = memoryWorkspacesStore();
  issued = new Map();
  revoked = new Set();
});

describe('the first start', () => {
  test('creates an owner with a workspace, a login and a default key', async () => {
    const { userId, workspaceId, isFresh, write } = await start(noFiles);
    expect(isFresh).toBe(true);
    expect(await store.owner()).toMatchObject({
      user: { id: userId },
      workspace: { id: workspaceId, slug: 'personal' },
    });
    expect(await store.role(workspaceId, userId)).toBe('owner');
    expect(parseSecret(write.login ?? '')).toBe('login');
    expect(await store.loginByDigest(sha256(write.login ?? ''))).toMatchObject({ userId, revokedAt: null });
    expect(issued.get(write.defaultKey ?? '')).toEqual({ name: 'default', userId, workspaceId });
    expect(JSON.stringify(store.logins)).not.toContain(write.login);
  });
});

describe('a later start', () => {
  test('creates nothing while the files are valid', async () => {
    const first = await start(noFiles);
    const second = await start(first.write);
    expect(second).toEqual({ ...first, isFresh: false, write: noFiles });
    expect(store.logins).toHaveLength(1);
    expect(issued.size).toBe(1);
  });

  test('does not replace a revoked default key', async () => {
    const first = await start(noFiles);
    revoked.add(first.write.defaultKey ?? '');
    expect(await start(first.write)).toMatchObject({ write: noFiles });
    expect(issued.size).toBe(1);
  });

  test('replaces a lost login, and revokes it', async () => {
    const first = await start(noFiles);
    const second = await start({ ...first.write, login: undefined });
    expect(second.userId).toBe(first.userId);
    expect(second.write.defaultKey).toBeUndefined();
    expect(await store.loginByDigest(sha256(first.write.login ?? ''))).not.toMatchObject({ revokedAt: null });
    expect(await store.loginByDigest(sha256(second.write.login ?? ''))).toMatchObject({ revokedAt: null });
  });

  test.each([
    ['of another database', makeSecret('login', randomBytes)],
    ['that are no secrets', 'hello'],
  ])('does not trust files %s', async (_what, content) => {
    await start(noFiles);
    const { write } = await start({ login: content, defaultKey: content });
    expect(parseSecret(write.login ?? '')).toBe('login');
    expect(parseSecret(write.defaultKey ?? '')).toBe('api');
  });

  test('repairs a first start that ended before its files were written', async () => {
    const first = await start(noFiles);
    const second = await start(noFiles);
    expect(second).toMatchObject({ userId: first.userId, workspaceId: first.workspaceId, isFresh: false });
    expect(second.write.login).toBeDefined();
    expect(second.write.defaultKey).toBeDefined();
  });
});

describe('membership', () => {
  const login = (userId: string, workspaceId: string): Caller & { kind: 'login' } => ({
    kind: 'login',
    loginId: 'key_login',
    userId,
    workspaceId,
    revoked: new AbortController().signal,
  });

  beforeEach(() => {
    store.addUser({
      id: 'usr_ann',
      workspaces: [
        ['ws_acme', 'owner'],
        ['ws_club', 'member'],
      ],
    });
    store.addUser({ id: 'usr_otto', workspaces: [['ws_other', 'owner']] });
  });

  test('is found by id, slug and `me`', async () => {
    const { membership } = createWorkspaces({ store, changes: new LocalChanges() });
    const ann = login('usr_ann', 'ws_acme');
    expect(await membership(ann, 'me')).toEqual({ workspaceId: 'ws_acme', userId: 'usr_ann', role: 'owner' });
    expect(await membership(ann, 'club')).toEqual({
      workspaceId: 'ws_club',
      userId: 'usr_ann',
      role: 'member',
    });
    expect(await membership(ann, 'ws_club')).toMatchObject({ role: 'member' });
    expect(await membership(ann, 'other')).toBeUndefined();
    expect(await membership(ann, 'nowhere')).toBeUndefined();
  });

  test('binds a key to one workspace, whatever else its owner belongs to', async () => {
    const { membership } = createWorkspaces({ store, changes: new LocalChanges() });
    const key = {
      kind: 'key',
      keyId: 'key_1',
      ownerId: 'usr_ann',
      workspaceId: 'ws_acme',
      scopes: new Set<never>(),
      revoked: new AbortController().signal,
    } as const;
    expect(await membership(key, 'acme')).toMatchObject({ role: 'owner' });
    expect(await membership(key, 'club')).toBeUndefined();
  });

  test('is read from the store once for members, and each time for others', async () => {
    let reads = 0;
    const role = (workspaceId: string, userId: string) => {
      reads += 1;
      return store.role(workspaceId, userId);
    };
    const changes = new LocalChanges();
    const { roleOf } = createWorkspaces({ store: { ...store, role }, changes });
    await roleOf('ws_acme', 'usr_ann');
    await roleOf('ws_acme', 'usr_ann');
    expect(reads).toBe(1);
    await roleOf('ws_acme', 'usr_otto');
    await roleOf('ws_acme', 'usr_otto');
    expect(reads).toBe(3);
    await changes.announce([{ topic: 'role', workspaceId: 'ws_acme', userId: 'usr_ann' }]);
    await roleOf('ws_acme', 'usr_ann');
    expect(reads).toBe(4);
  });

  test('treats only the first user’s login as the daemon’s owner', async () => {
    const { requireDaemonOwner } = createWorkspaces({ store, changes: new LocalChanges() });
    await expect(requireDaemonOwner(login('usr_ann', 'ws_acme'))).resolves.toBeUndefined();
    await expect(requireDaemonOwner(login('usr_otto', 'ws_other'))).rejects.toMatchObject({
      code: 'permission',
      message: 'Only the owner of this host may do this.',
    });
    await expect(requireDaemonOwner({ kind: 'anonymous' })).rejects.toMatchObject({ code: 'signed_out' });
  });

  test('guards the endpoints that a contract declares for the daemon’s owner', async () => {
    const { requireDaemonOwner } = createWorkspaces({ store, changes: new LocalChanges() });
    const handlerOf = (endpoint: Endpoint) =>
      guardOwner({ endpoint, handle: async () => 'done' }, requireDaemonOwner);
    const [owner, other] = [login('usr_ann', 'ws_acme'), login('usr_otto', 'ws_other')];
    const guarded = handlerOf(getStatus);
    expect(await guarded.handle({ caller: owner })).toBe('done');
    for (const check of [guarded.handle, guarded.permit]) {
      await expect(check?.({ caller: other })).rejects.toMatchObject({ code: 'permission' });
    }
    expect(handlerOf(getKey).permit).toBeUndefined();
    expect(await handlerOf(getKey).handle({ caller: other })).toBe('done');
  });
});

test('a role that was read before it changed is not cached', async () => {
  const roles: ('admin' | 'member')[] = ['admin', 'member'];
  const reading = Promise.withResolvers<void>();
  const changes = new LocalChanges();
  const known = createWorkspaces({
    changes,
    store: {
      ...store,
      role: async () => {
        const role = roles.shift();
        if (role === 'admin') await reading.promise;
        return role;
      },
    },
  });
  const early = known.roleOf('ws_1', 'usr_1');
  await changes.announce([{ topic: 'role', workspaceId: 'ws_1', userId: 'usr_1' }]);
  reading.resolve();
  expect(await early).toBe('admin');
  expect(await known.roleOf('ws_1', 'usr_1')).toBe('member');
  expect(await known.roleOf('ws_1', 'usr_1')).toBe('member');
});
