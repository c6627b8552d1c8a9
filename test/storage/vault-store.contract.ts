import { describe, expect, test } from 'vitest';
import type { ProviderKeyRecord } from '../../src/daemon/features/provider-keys/store.ts';
import type { MasterRecord, SealedSecret } from '../../src/daemon/features/vault/store.ts';
import { addUsers, morning, type OpenStorage } from './records.ts';

export function vaultStoreContract(open: OpenStorage): void {
  const aMaster = (kid: string, changes: Partial<MasterRecord> = {}): MasterRecord => ({
    kid,
    store: 'file',
    proof: `proof of ${kid}`,
    wrapped: null,
    createdAt: morning,
    ...changes,
  });
  const aSecret = (kid: string, version = 1): SealedSecret => ({
    name: 'provider-key|ws_1|openai',
    version,
    kid,
    wrappedKey: `wrapped by ${kid}`,
    sealed: `value ${version}`,
  });
  const aKey = (changes: Partial<ProviderKeyRecord> = {}): ProviderKeyRecord => ({
    workspaceId: 'ws_1',
    provider: 'openai',
    name: '',
    fingerprint: '0123456789ab',
    addedAt: morning,
    updatedAt: morning,
    ...changes,
  });
  const openWithSecret = async () => {
    const storage = await open();
    await addUsers(storage);
    await storage.vault.addMaster(aMaster('master_1'));
    expect(await storage.providerKeys.put(aKey(), aSecret('master_1'))).toBe(true);
    return storage;
  };

  describe('the vault', () => {
    test('takes one first master key', async () => {
      const { vault } = await open();
      expect(await vault.current()).toBeUndefined();
      expect(await vault.addMaster(aMaster('master_1'))).toBe(true);
      expect(await vault.addMaster(aMaster('master_2'))).toBe(false);
      expect(await vault.current()).toEqual(aMaster('master_1'));
    });

    test('seals all secrets under a new master key or none', async () => {
      const { vault } = await openWithSecret();
      const rotation = { from: 'master_1', to: aMaster('master_2') };
      const rewrapped = [aSecret('master_2')];
      expect(await vault.rotate({ ...rotation, rewrapped: [] })).toBe(false);
      expect(await vault.rotate({ ...rotation, rewrapped: [aSecret('master_2', 2)] })).toBe(false);
      expect(await vault.rotate({ ...rotation, from: 'master_0', rewrapped })).toBe(false);
      expect(await vault.rotate({ ...rotation, rewrapped })).toBe(true);
      expect(await vault.current()).toEqual(aMaster('master_2'));
      expect(await vault.secrets()).toEqual(rewrapped);
    });

    test('drops retired master keys only', async () => {
      const { vault } = await openWithSecret();
      await vault.rotate({ from: 'master_1', to: aMaster('master_2'), rewrapped: [aSecret('master_2')] });
      expect(await vault.retired()).toEqual([aMaster('master_1')]);
      await vault.dropMaster('master_1');
      await vault.dropMaster('master_2');
      expect(await vault.retired()).toEqual([]);
      expect(await vault.current()).toEqual(aMaster('master_2'));
    });
  });

  describe('provider keys', () => {
    test('are listed with their secret in the vault', async () => {
      const { vault, providerKeys } = await openWithSecret();
      expect(await providerKeys.list('ws_1')).toEqual([aKey()]);
      expect(await providerKeys.list('ws_2')).toEqual([]);
      expect(await vault.secret(aSecret('master_1').name)).toEqual(aSecret('master_1'));
      expect(await vault.secretsCount()).toBe(1);
    });

    test('are replaced by the next version under the current master key alone', async () => {
      const { vault, providerKeys } = await openWithSecret();
      const changed = aKey({ fingerprint: 'ffffffffffff', addedAt: morning + 1, updatedAt: morning + 1 });
      expect(await providerKeys.put(changed, aSecret('master_1', 3))).toBe(false);
      expect(await providerKeys.put(changed, aSecret('master_0', 2))).toBe(false);
      expect(await providerKeys.put(changed, aSecret('master_1', 2))).toBe(true);
      expect(await providerKeys.list('ws_1')).toEqual([{ ...changed, addedAt: morning }]);
      expect(await vault.secrets()).toEqual([aSecret('master_1', 2)]);
    });

    test('can be several of one provider, each with a name and secret of its own', async () => {
      const { vault, providerKeys } = await openWithSecret();
      const second = aKey({ name: 'second', fingerprint: 'ffffffffffff' });
      const secret = { ...aSecret('master_1'), name: 'provider-key|ws_1|openai|second' };
      expect(await providerKeys.put(second, secret)).toBe(true);
      expect(await providerKeys.list('ws_1')).toEqual([aKey(), second]);
      expect(await providerKeys.delete('ws_1', 'openai', 'third')).toBe(false);
      expect(await providerKeys.delete('ws_1', 'openai', '')).toBe(true);
      expect(await providerKeys.list('ws_1')).toEqual([second]);
      expect((await vault.secrets()).map(({ name }) => name)).toEqual([secret.name]);
    });

    test('are deleted with their secret', async () => {
      const { vault, providerKeys } = await openWithSecret();
      expect(await providerKeys.delete('ws_1', 'anthropic', '')).toBe(false);
      expect(await providerKeys.delete('ws_1', 'openai', '')).toBe(true);
      expect(await vault.secretsCount()).toBe(0);
    });
  });
}
