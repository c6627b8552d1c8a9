import { describe, expect, test } from 'vitest';
import type { NewLoginCode } from '../../src/daemon/features/workspaces/people-store.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { aKey, aLogin, dayMs, morning, type OpenStorage, owner } from './records.ts';

const page = { limit: 10, after: undefined };

const bob = { id: 'usr_2', handle: 'bob', name: 'Bob', createdAt: morning };
const newWorkspace = (id: string, ...slugs: string[]) => ({ id, name: id, createdAt: morning, slugs });
const code = (digest: string, changes: Partial<NewLoginCode> = {}): NewLoginCode => ({
  digest,
  userId: 'usr_2',
  createdAt: morning,
  expiresAt: morning + 1000,
  makerId: null,
  keep: null,
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
const idle = { kept: 2000, other: 1000 };
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
        Array.from({ length: 20 }, (_, at) => people.redeemCode('c1', login(`key_${at}`), morning + 1)),
      );
      expect(tries.filter((user) => user === 'usr_2')).toHaveLength(1);
      expect(tries.filter((user) => user === undefined)).toHaveLength(19);
      const [kept] = await people.logins('usr_2', { ...page, at: morning + 5 });
      expect(await workspaces.loginByDigest(kept?.digest ?? '')).toMatchObject({ userId: 'usr_2' });
    });

    test('expire', async () => {
      const { people } = await openWithBob();
      expect(await people.redeemCode('c1', login('key_late'), morning + 1000)).toBeUndefined();
      expect(await people.redeemCode('c1', login('key_early'), morning + 999)).toBe('usr_2');
    });
  });

  describe('links', () => {
    const redeem = ({ people }: Storage, digest: string, id: string, at = morning + 1) =>
      people.redeemLink(digest, { ...login(id), kind: 'browser' }, { idleMs: idle, at });
    const activeOf = async ({ people }: Storage) =>
      (await people.logins('usr_2', { ...page, at: morning + 5 })).map(({ id }) => id);

    test('make a login of a browser, and tell whom before that', async () => {
      const storage = await openWithBob();
      const { people, workspaces } = storage;
      await people.insertCode(code('l1', { keep: false }));
      await people.insertCode(code('l2', { keep: true }));
      expect(await people.userOfCode('l1', morning + 1)).toMatchObject({ id: 'usr_2' });
      expect(await people.redeemCode('l1', login('key_0'), morning + 1)).toBeUndefined();
      expect(await redeem(storage, 'c1', 'key_0')).toBe('unknown');
      expect(await redeem(storage, 'l1', 'key_1')).toEqual({ userId: 'usr_2', keep: false });
      expect(await redeem(storage, 'l2', 'key_2')).toEqual({ userId: 'usr_2', keep: true });
      expect(await workspaces.loginById('key_1')).toMatchObject({ kind: 'browser', idleMs: 1000 });
      expect(await workspaces.loginById('key_2')).toMatchObject({ kind: 'browser', idleMs: 2000 });
      expect(await people.userOfCode('l1', morning + 1)).toBeUndefined();
    });

    test('expire', async () => {
      const storage = await openWithBob();
      await storage.people.insertCode(code('l1', { keep: false }));
      expect(await storage.people.userOfCode('l1', morning + 1000)).toBeUndefined();
      expect(await redeem(storage, 'l1', 'key_late', morning + 1000)).toBe('expired');
      expect(await redeem(storage, 'l1', 'key_early', morning + 999)).toMatchObject({ userId: 'usr_2' });
    });

    test('used many times at once leave no login, nor one that came from it', async () => {
      const storage = await openWithBob();
      const { people } = storage;
      await people.insertCode(code('l1', { keep: false }));
      const race = Array.from({ length: 50 }, (_, at) => redeem(storage, 'l1', `key_${at}`));
      const outcomes = await Promise.all(race);
      expect(outcomes.filter((it) => typeof it === 'object' && 'keep' in it)).toHaveLength(1);
      expect(
        outcomes.flatMap((it) => (typeof it === 'object' && 'ended' in it ? it.ended : [])),
      ).toHaveLength(1);
      expect(await activeOf(storage)).toEqual([]);

      await people.insertCode(code('l2', { keep: false }));
      await redeem(storage, 'l2', 'key_a');
      await people.insertCode(code('l3', { makerId: 'key_a', keep: false }));
      await people.insertCode(code('c4', { makerId: 'key_a' }));
      await people.insertCode(code('c5', { makerId: 'key_a' }));
      await redeem(storage, 'l3', 'key_b');
      await people.redeemCode('c4', login('key_c'), morning + 1);
      expect(await activeOf(storage)).toEqual(['key_a', 'key_b', 'key_c']);
      const again = await redeem(storage, 'l2', 'key_d');
      expect(again).toMatchObject({ ended: expect.arrayContaining(['key_a', 'key_b', 'key_c']) });
      expect(await activeOf(storage)).toEqual([]);
      expect(await people.redeemCode('c5', login('key_e'), morning + 1)).toBeUndefined();
    });
  });

  describe.each([
    ['is revoked', ({ people }: Storage) => people.revokeLogin('usr_2', 'key_m', morning + 2)],
    [
      'is replaced',
      ({ workspaces }: Storage) =>
        workspaces.replaceLogin(aLogin('key_n', { userId: 'usr_2', name: 'maker' })),
    ],
    ['goes with its user', ({ profile }: Storage) => profile.remove('usr_2', morning + 2)],
  ])('when a login %s', (_name, end) => {
    test('the codes and links that it made log in no one', async () => {
      const storage = await openWithBob();
      const { people, workspaces } = storage;
      await workspaces.insertLogin(aLogin('key_m', { userId: 'usr_2', name: 'maker' }));
      for (const made of [code('c2', { makerId: 'key_m' }), code('l2', { makerId: 'key_m', keep: false })])
        expect(await people.insertCode(made)).toBe(true);
      await end(storage);
      expect(await people.insertCode(code('c3', { makerId: 'key_m' }))).toBe(false);
      for (const digest of ['c2', 'l2', 'c3']) {
        expect(await people.userOfCode(digest, morning + 1)).toBeUndefined();
        expect(await people.redeemCode(digest, login('key_x'), morning + 1)).toBeUndefined();
        const outcome = await people.redeemLink(
          digest,
          { ...login('key_y'), kind: 'browser' },
          { idleMs: idle, at: morning + 1 },
        );
        expect(outcome).toBe('unknown');
      }
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
    await people.redeemCode('c1', login('key_l1'), morning + 1);
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
