import { describe, expect, test } from 'vitest';
import { addUsers, aKey, aLogin, morning, type OpenStorage } from './records.ts';

export function profileStoreContract(open: OpenStorage): void {
  const openWithUsers = async () => {
    const storage = await open();
    await addUsers(storage);
    return storage;
  };
  const bob = {
    userId: 'usr_2',
    number: 2,
    handle: 'bob',
    name: 'Bob',
    avatar: '',
    email: null,
    createdAt: morning,
    updatedAt: morning,
  };

  describe('profiles', () => {
    test('are found by user id, number and handle', async () => {
      const { profile } = await openWithUsers();
      expect(await profile.byUserId('usr_2')).toEqual(bob);
      expect(await profile.byNumber(2)).toEqual(bob);
      expect(await profile.byHandle('bob')).toEqual(bob);
      expect(await profile.byHandle('eve')).toBeUndefined();
    });

    test('change only what is given', async () => {
      const { profile } = await openWithUsers();
      expect(await profile.change('usr_2', { email: 'bob@example.com' }, morning + 1)).toBeUndefined();
      expect(await profile.change('usr_2', { name: 'Robert' }, morning + 2)).toBeUndefined();
      const changes = { name: 'Robert', email: 'bob@example.com', updatedAt: morning + 2 };
      expect(await profile.byUserId('usr_2')).toEqual({ ...bob, ...changes });
    });

    test('do not change when the email or the handle is taken', async () => {
      const { profile } = await openWithUsers();
      await profile.change('usr_1', { email: 'ada@example.com' }, morning + 1);
      const email = { name: 'X', email: 'ADA@example.com' };
      expect(await profile.change('usr_2', email, morning + 2)).toBe('email');
      expect(await profile.change('usr_2', { name: 'X', handle: 'ada' }, morning + 2)).toBe('handle');
      expect(await profile.byUserId('usr_2')).toEqual(bob);
    });
  });

  describe('removing a user', () => {
    test('is refused for the owner of the host, and for the last owner of a shared workspace', async () => {
      const { profile, people } = await openWithUsers();
      expect(await profile.remove('usr_1', morning + 1)).toBe('host-owner');
      await people.insertInvitation(anInvitation, []);
      await people.acceptInvitation({ digest: anInvitation.digest, userId: 'usr_1', at: morning + 1 });
      expect(await profile.remove('usr_2', morning + 2)).toEqual({ lastOwnerOf: 'bob' });
      expect(await profile.byUserId('usr_2')).toEqual(bob);
    });

    test('ends all credentials, removes shouts and hides the profile', async () => {
      const { profile, keys, workspaces, tokens, shouts } = await openWithUsers();
      await keys.insert(aKey('key_1', { workspaceId: 'ws_2', ownerId: 'usr_2' }));
      await workspaces.insertLogin(aLogin('login_1', { userId: 'usr_2' }));
      await tokens.insert({
        id: 'tok_1',
        userId: 'usr_2',
        digest: 'd',
        name: 'CI',
        abilities: [],
        createdAt: morning,
        expiresAt: null,
        lastUsedAt: null,
        revokedAt: null,
        makerId: null,
      });
      const shout = await shouts.insert({ author: 2, zone: 'home', body: 'hi', at: morning });

      expect(await profile.remove('usr_2', morning + 1)).toEqual({
        credentials: ['key_1', 'login_1', 'tok_1'],
        workspaces: ['ws_2'],
      });
      expect(await keys.byId('ws_2', 'key_1')).toMatchObject({ revokedAt: morning + 1 });
      expect(await shouts.find(shout)).toBeUndefined();
      expect(await profile.byUserId('usr_2')).toBeUndefined();
      expect(await profile.byHandle('bob')).toBeUndefined();
    });

    test('passes keys in shared workspaces to the first other owner, without the scopes of an owner', async () => {
      const { profile, keys, people } = await openWithUsers();
      await people.insertInvitation({ ...anInvitation, role: 'owner' }, []);
      await people.acceptInvitation({ digest: anInvitation.digest, userId: 'usr_1', at: morning + 1 });
      await keys.insert(
        aKey('key_1', { workspaceId: 'ws_2', ownerId: 'usr_2', scopes: ['responses', 'keys'] }),
      );
      expect(await profile.remove('usr_2', morning + 2)).toEqual({ credentials: [], workspaces: ['ws_2'] });
      expect(await keys.byId('ws_2', 'key_1')).toMatchObject({
        ownerId: 'usr_1',
        scopes: ['responses'],
        revokedAt: null,
      });
    });
  });
}

const anInvitation = {
  id: 'inv_1',
  workspaceId: 'ws_2',
  digest: 'digest of inv_1',
  role: 'member',
  note: '',
  createdBy: 'usr_2',
  createdAt: morning,
  expiresAt: morning + 100,
  acceptedBy: null,
  acceptedAt: null,
  revokedAt: null,
} as const;
