import { describe, expect, test } from 'vitest';
import { aLogin, morning, type OpenStorage, owner } from './records.ts';

export function workspacesStoreContract(open: OpenStorage): void {
  describe('workspaces', () => {
    test('have no owner before the first start', async () => {
      const { workspaces } = await open();
      expect(await workspaces.owner()).toBeUndefined();
      expect(await workspaces.homeOf('usr_1')).toBeUndefined();
    });

    test('belong to the first owner, whose number the store assigns', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);

      expect(await workspaces.owner()).toEqual({
        user: { ...owner.user, number: 1 },
        workspace: { ...owner.workspace, membersMayIssueKeys: false, capture: null },
      });
      expect(await workspaces.homeOf('usr_1')).toMatchObject(owner.workspace);
      expect(await workspaces.role('ws_1', 'usr_1')).toBe('owner');
      expect(await workspaces.role('ws_1', 'usr_2')).toBeUndefined();
    });

    test('are found by id and by slug', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);
      expect(await workspaces.workspace('ws_1')).toMatchObject(owner.workspace);
      expect(await workspaces.workspace('home')).toMatchObject(owner.workspace);
      expect(await workspaces.workspace('Home')).toBeUndefined();
    });

    test('are created completely or not at all', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);
      const second = {
        user: { ...owner.user, id: 'usr_2', handle: 'bob' },
        workspace: { ...owner.workspace, id: 'ws_2' },
      };
      // The slug is taken, so its user must not be created either.
      await expect(workspaces.createOwner(second)).rejects.toMatchObject({ code: 'conflict' });
      second.workspace.slug = 'other';
      await workspaces.createOwner(second);
      expect(await workspaces.owner()).toMatchObject({ user: { id: 'usr_1' } });
      expect(await workspaces.role('ws_2', 'usr_2')).toBe('owner');
    });
  });

  describe('logins', () => {
    test('are found by digest and by id', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);
      await workspaces.insertLogin(aLogin('key_l1'));
      expect(await workspaces.loginByDigest('digest of key_l1')).toEqual(aLogin('key_l1'));
      expect(await workspaces.loginById('key_l1')).toEqual(aLogin('key_l1'));
      expect(await workspaces.loginByDigest('another')).toBeUndefined();
      expect(await workspaces.loginById('key_l2')).toBeUndefined();
    });

    test('keep the latest time of last use', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);
      await workspaces.insertLogin(aLogin('key_l1'));
      await workspaces.insertLogin(aLogin('key_l2'));
      const used = (id: string, at: number) => workspaces.touchLogins([{ id, at }]);
      await used('key_l1', morning + 5);
      await used('key_l1', morning + 2);
      await used('key_gone', morning + 2);
      expect(await workspaces.loginById('key_l1')).toEqual(aLogin('key_l1', { lastUsedAt: morning + 5 }));
      expect(await workspaces.loginById('key_l2')).toEqual(aLogin('key_l2'));
    });

    test('revoke only those of the same name that they replace', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);
      await workspaces.insertLogin(aLogin('key_old'));
      await workspaces.insertLogin(aLogin('key_revoked', { revokedAt: morning + 1 }));
      await workspaces.insertLogin(aLogin('key_phone', { name: 'phone' }));
      await workspaces.replaceLogin(aLogin('key_new', { createdAt: morning + 9 }));

      const revokedAt = async (id: string) => (await workspaces.loginById(id))?.revokedAt;
      expect(await revokedAt('key_old')).toBe(morning + 9);
      expect(await revokedAt('key_revoked')).toBe(morning + 1);
      expect(await revokedAt('key_phone')).toBeNull();
      expect(await revokedAt('key_new')).toBeNull();
    });

    test('are replaced completely or not at all', async () => {
      const { workspaces } = await open();
      await workspaces.createOwner(owner);
      await workspaces.insertLogin(aLogin('key_old'));
      const taken = aLogin('key_new', { digest: 'digest of key_old' });
      await expect(workspaces.replaceLogin(taken)).rejects.toMatchObject({ code: 'conflict' });
      expect(await workspaces.loginById('key_old')).toMatchObject({ revokedAt: null });
    });
  });
}
