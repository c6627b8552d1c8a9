import { describe, expect, test } from 'vitest';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { aKey, aLogin, dayMs, morning, type OpenStorage, owner } from './records.ts';

const page = { limit: 10, after: undefined };

const bob = { id: 'usr_2', handle: 'bob', name: 'Bob', createdAt: morning };
const newWorkspace = (id: string, ...slugs: string[]) => ({ id, name: id, createdAt: morning, slugs });
const code = (digest: string, changes: { userId?: string; expiresAt?: number } = {}) => ({
  digest,
  userId: 'usr_2',
  createdAt: morning,
  expiresAt: morning + 1000,
  usedAt: null,
  ...changes,
});
const login = (id: string, createdAt = morning + 1) => ({
  id,
  digest: `digest of ${id}`,
  name: 'laptop',
  createdAt,
  revokedAt: null,
});
const invitation = (id: string, changes: object = {}) => ({
  id,
  workspaceId: 'ws_1',
  digest: `digest of ${id}`,
  role: 'member' as const,
  note: 'for bob',
  createdBy: 'usr_1',
  createdAt: morning,
  expiresAt: morning + dayMs,
  acceptedBy: null,
  acceptedAt: null,
  revokedAt: null,
  ...changes,
});
const fallback = newWorkspace('ws_9', 'bob-9');

export function peopleStoreContract(open: OpenStorage): void {
  /** Creates the owner with the workspace `home`, and Bob with `bob`. */
  async function openWithBob(): Promise<Storage> {
    const storage = await open();
    await storage.workspaces.createOwner(owner);
    await storage.people.addUser({ user: bob, workspace: newWorkspace('ws_2', 'bob'), code: code('c1') });
    return storage;
  }

  /** Adds Bob to the owner's workspace. */
  async function letIn({ people }: Storage, role: 'owner' | 'admin' | 'member'): Promise<void> {
    await people.insertInvitation(invitation(`invite_${role}`, { role }), []);
    const digest = `digest of invite_${role}`;
    await people.acceptInvitation({ digest, userId: 'usr_2', at: morning + 5 });
  }

  describe('users', () => {
    test('are added with a workspace, under the first free slug', async () => {
      const { people, workspaces } = await openWithBob();
      expect(await people.user('bob')).toEqual({ ...bob, number: 2 });
      expect(await people.user('usr_2')).toMatchObject({ handle: 'bob' });
      expect(await workspaces.homeOf('usr_2')).toMatchObject({ id: 'ws_2', slug: 'bob' });
      const carl = { ...bob, id: 'usr_3', handle: 'carl' };
      const workspace = newWorkspace('ws_3', 'bob', 'home', 'carl-x');
      expect(await people.addUser({ user: carl, workspace, code: code('c3') })).toBe(true);
      expect(await workspaces.homeOf('usr_3')).toMatchObject({ slug: 'carl-x' });
      expect((await people.users({ limit: 2, after: 'usr_1' })).map(({ id }) => id)).toEqual([
        'usr_2',
        'usr_3',
      ]);
    });

    test('have unique handles', async () => {
      const { people, workspaces } = await openWithBob();
      const again = { ...bob, id: 'usr_3' };
      expect(
        await people.addUser({ user: again, workspace: newWorkspace('ws_3', 'free'), code: code('c3') }),
      ).toBe(false);
      expect(await workspaces.workspace('ws_3')).toBeUndefined();
    });
  });

  describe('login codes', () => {
    test('can be used once', async () => {
      const { people, workspaces } = await openWithBob();
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, at) => people.redeemCode('c1', login(`key_${at}`))),
      );
      expect(tries.filter((user) => user === 'usr_2')).toHaveLength(1);
      expect(tries.filter((user) => user === undefined)).toHaveLength(19);
      const [kept] = await people.logins('usr_2', { ...page, at: morning + 5 });
      expect(await workspaces.loginByDigest(kept?.digest ?? '')).toMatchObject({ userId: 'usr_2' });
    });

    test('expire', async () => {
      const { people } = await openWithBob();
      expect(await people.redeemCode('c1', login('key_late', morning + 1000))).toBeUndefined();
      expect(await people.redeemCode('c1', login('key_early', morning + 999))).toBe('usr_2');
    });
  });

  test('logins of browsers are listed until they were idle for too long', async () => {
    const { people, workspaces } = await openWithBob();
    const browser = { kind: 'browser', idleMs: 1000 } as const;
    await workspaces.insertLogin(aLogin('key_b1', { userId: 'usr_2', ...browser }));
    await workspaces.insertLogin(aLogin('key_b2', { userId: 'usr_2', ...browser }));
    await workspaces.insertLogin(aLogin('key_c', { userId: 'usr_2' }));
    await workspaces.touchLogins([{ id: 'key_b2', at: morning + 500 }]);
    const listed = async (at: number) =>
      (await people.logins('usr_2', { ...page, at })).map(({ id, kind }) => `${id} ${kind}`);
    expect(await listed(morning + 999)).toEqual(['key_b1 browser', 'key_b2 browser', 'key_c command']);
    expect(await listed(morning + 1000)).toEqual(['key_b2 browser', 'key_c command']);
    expect(await listed(morning + 1500)).toEqual(['key_c command']);
  });

  test('a login is revoked once, by its own user', async () => {
    const { people, workspaces } = await openWithBob();
    await people.redeemCode('c1', login('key_l1'));
    expect(await people.revokeLogin('usr_1', 'key_l1', morning + 2)).toBe(false);
    expect(await people.revokeLogin('usr_2', 'key_l1', morning + 2)).toBe(true);
    expect(await people.revokeLogin('usr_2', 'key_l1', morning + 3)).toBe(false);
    expect(await workspaces.loginById('key_l1')).toMatchObject({ revokedAt: morning + 2 });
    expect(await people.logins('usr_2', { ...page, at: morning + 5 })).toEqual([]);
  });

  describe('workspaces', () => {
    test('are created, changed and listed', async () => {
      const { people, workspaces } = await openWithBob();
      expect(await people.createWorkspace(newWorkspace('ws_5', 'home', 'lab'), 'usr_2')).toBe('lab');
      expect(await people.createWorkspace(newWorkspace('ws_6', 'home', 'lab'), 'usr_2')).toBeUndefined();
      expect(await people.changeWorkspace('ws_5', { slug: 'bob' })).toBe(false);
      expect(
        await people.changeWorkspace('ws_5', {
          slug: 'lab',
          name: 'Lab',
          membersMayIssueKeys: true,
          capture: 'off',
        }),
      ).toBe(true);
      expect(await workspaces.captureLevels()).toEqual([{ workspaceId: 'ws_5', capture: 'off' }]);
      expect(await workspaces.workspace('lab')).toEqual({
        id: 'ws_5',
        slug: 'lab',
        name: 'Lab',
        createdAt: morning,
        membersMayIssueKeys: true,
        capture: 'off',
      });
      const own = await people.workspacesOf('usr_2', page);
      expect(own.map(({ workspace, role }) => [workspace.slug, role])).toEqual([
        ['bob', 'owner'],
        ['lab', 'owner'],
      ]);
    });

    test('always have an owner', async () => {
      const storage = await openWithBob();
      const { people } = storage;
      const change = { workspaceId: 'ws_1', userId: 'usr_1', at: morning + 9, expected: [] };
      expect(await people.setRole({ ...change, role: 'member' })).toBe('last-owner');
      expect(await people.removeMember({ ...change, fallback })).toBe('last-owner');
      await letIn(storage, 'owner');
      const both = [change, { ...change, userId: 'usr_2' }];
      const outcomes = await Promise.all(
        both.map((one, at) => people.removeMember({ ...one, fallback: newWorkspace(`ws_n${at}`, `n${at}`) })),
      );
      expect(outcomes.toSorted()).toEqual(['done', 'last-owner']);
    });

    test('change nothing if a role on which the decision was based has changed', async () => {
      const storage = await openWithBob();
      const { people, workspaces } = storage;
      await letIn(storage, 'admin');
      const [owner, bob] = [
        { userId: 'usr_1', role: 'owner' },
        { userId: 'usr_2', role: 'admin' },
      ] as const;
      const change = { workspaceId: 'ws_1', userId: 'usr_2', at: morning + 9 };
      for (const expected of [
        [owner, { ...bob, role: 'member' as const }],
        [{ ...owner, role: 'admin' as const }, bob],
      ]) {
        expect(await people.setRole({ ...change, role: 'member', expected })).toBe('changed');
        expect(await people.removeMember({ ...change, fallback, expected })).toBe('changed');
        expect(await people.insertInvitation(invitation('invite_y'), expected)).toBe(false);
      }
      expect(await people.invitations('ws_1', page)).not.toContainEqual(
        expect.objectContaining({ id: 'invite_y' }),
      );
      expect(await workspaces.role('ws_1', 'usr_2')).toBe('admin');
      expect(await people.setRole({ ...change, role: 'member', expected: [owner, bob] })).toBe('done');
      expect(await workspaces.role('ws_1', 'usr_2')).toBe('member');
    });

    test('have no role for other users', async () => {
      const { people } = await openWithBob();
      const change = { workspaceId: 'ws_1', userId: 'usr_2', at: morning, expected: [] };
      expect(await people.setRole({ ...change, role: 'admin' })).toBe('no-member');
      expect(await people.removeMember({ ...change, fallback })).toBe('no-member');
    });
  });

  describe('members who leave', () => {
    test('leave their keys to the owner, and no open invitation', async () => {
      const storage = await openWithBob();
      const { people, keys, workspaces } = storage;
      await letIn(storage, 'admin');
      await keys.insert(aKey('key_b', { ownerId: 'usr_2' }));
      await keys.insert(aKey('key_elsewhere', { ownerId: 'usr_2', workspaceId: 'ws_2' }));
      await people.insertInvitation(invitation('invite_x', { createdBy: 'usr_2' }), []);
      const removal = { workspaceId: 'ws_1', userId: 'usr_2', at: morning + 9, expected: [], fallback };
      expect(await people.removeMember(removal)).toBe('done');

      expect(await workspaces.role('ws_1', 'usr_2')).toBeUndefined();
      expect(await keys.byId('ws_1', 'key_b')).toMatchObject({ ownerId: 'usr_1', revokedAt: null });
      expect(await keys.byId('ws_2', 'key_elsewhere')).toMatchObject({ ownerId: 'usr_2' });
      const accepted = { digest: 'digest of invite_x', userId: 'usr_2', at: morning + 10 };
      expect(await people.acceptInvitation(accepted)).toBe('unknown');
      expect(await workspaces.workspace('ws_9')).toBeUndefined();
    });

    test('get a new workspace if they have no other', async () => {
      const storage = await openWithBob();
      const { people, workspaces } = storage;
      await people.insertInvitation(invitation('invite_a', { workspaceId: 'ws_2', role: 'owner' }), []);
      await people.acceptInvitation({ digest: 'digest of invite_a', userId: 'usr_1', at: morning + 1 });
      const removal = { workspaceId: 'ws_2', userId: 'usr_2', at: morning + 9, expected: [], fallback };
      expect(await people.removeMember(removal)).toBe('done');
      expect(await workspaces.homeOf('usr_2')).toMatchObject({ id: 'ws_9', slug: 'bob-9' });
      expect(await workspaces.role('ws_9', 'usr_2')).toBe('owner');
    });
  });

  describe('invitations', () => {
    test('can be used once, and not by members', async () => {
      const storage = await openWithBob();
      const { people, workspaces } = storage;
      await people.insertInvitation(invitation('invite_1', { role: 'admin' }), []);
      const accept = (userId: string, at = morning + 1) =>
        people.acceptInvitation({ digest: 'digest of invite_1', userId, at });
      expect(await accept('usr_1')).toBe('member');
      const tries = await Promise.all([accept('usr_2'), accept('usr_2'), accept('usr_2')]);
      expect(tries[0]).toEqual({ workspaceId: 'ws_1', role: 'admin' });
      expect(tries.slice(1)).toEqual(['unknown', 'unknown']);
      expect(await workspaces.role('ws_1', 'usr_2')).toBe('admin');
      expect(await people.invitations('ws_1', page)).toMatchObject([
        { id: 'invite_1', acceptedBy: 'usr_2', acceptedAt: morning + 1 },
      ]);
      expect((await people.members('ws_1', page)).map(({ user, role }) => [user.handle, role])).toEqual([
        ['ada', 'owner'],
        ['bob', 'admin'],
      ]);
    });

    test('expire, and can be revoked', async () => {
      const { people } = await openWithBob();
      await people.insertInvitation(invitation('invite_1'), []);
      await people.insertInvitation(invitation('invite_2'), []);
      const accept = (id: string, at: number) =>
        people.acceptInvitation({ digest: `digest of ${id}`, userId: 'usr_2', at });
      expect(await accept('invite_1', morning + dayMs)).toBe('unknown');
      expect(await people.revokeInvitation('ws_2', 'invite_2', morning)).toBe(false);
      expect(await people.revokeInvitation('ws_1', 'invite_2', morning)).toBe(true);
      expect(await people.revokeInvitation('ws_1', 'invite_2', morning)).toBe(false);
      expect(await accept('invite_2', morning + 1)).toBe('unknown');
      expect((await people.invitations('ws_1', { limit: 1, after: undefined })).map(({ id }) => id)).toEqual([
        'invite_2',
      ]);
    });

    test('are revoked when their creator becomes a plain member', async () => {
      const storage = await openWithBob();
      const { people } = storage;
      await letIn(storage, 'admin');
      await people.insertInvitation(invitation('invite_x', { createdBy: 'usr_2' }), []);
      const change = { workspaceId: 'ws_1', userId: 'usr_2', at: morning + 9, expected: [] };
      expect(await people.setRole({ ...change, role: 'member' })).toBe('done');
      const [found] = await people.invitations('ws_1', page);
      expect(found).toMatchObject({ id: 'invite_x', revokedAt: morning + 9 });
    });
  });
}
