import type { ProviderKeysStore } from '../../../features/provider-keys/store.ts';
import type { VaultStore } from '../../../features/vault/store.ts';
import { asc, count, eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { providerKeys, vaultMasters, vaultSecrets } from './tables.ts';
import type { ProviderKeysWrites, VaultWrites } from './writes.ts';

const masterColumns = {
  kid: vaultMasters.kid,
  store: vaultMasters.store,
  proof: vaultMasters.proof,
  wrapped: vaultMasters.wrapped,
  createdAt: vaultMasters.createdAt,
};

export function vaultStore({ orm, writer }: StoreContext<VaultWrites>): VaultStore {
  const inState = (state: 'current' | 'retired') =>
    orm.select(masterColumns).from(vaultMasters).where(eq(vaultMasters.state, state));
  return {
    current: async () => inState('current').get(),
    retired: async () => inState('retired').all(),
    secret: async (name) => orm.select().from(vaultSecrets).where(eq(vaultSecrets.name, name)).get(),
    secrets: async () => orm.select().from(vaultSecrets).orderBy(asc(vaultSecrets.name)).all(),
    secretsCount: async () => orm.select({ count: count() }).from(vaultSecrets).get()?.count ?? 0,
    putSecret: (secret) => writer.write('vault.putSecret', secret),
    deleteSecret: (name) => writer.write('vault.deleteSecret', name),
    addMaster: (record) => writer.write('vault.addMaster', record),
    rotate: (rotation) => writer.write('vault.rotate', rotation),
    dropMaster: (kid) => writer.write('vault.dropMaster', kid),
  };
}

export function providerKeysStore({ orm, writer }: StoreContext<ProviderKeysWrites>): ProviderKeysStore {
  const columns = {
    workspaceId: providerKeys.workspaceId,
    provider: providerKeys.provider,
    name: providerKeys.name,
    fingerprint: providerKeys.fingerprint,
    addedAt: providerKeys.addedAt,
    updatedAt: providerKeys.updatedAt,
  };
  return {
    list: async (workspaceId) =>
      orm
        .select(columns)
        .from(providerKeys)
        .where(eq(providerKeys.workspaceId, workspaceId))
        .orderBy(asc(providerKeys.provider), asc(providerKeys.name))
        .all(),
    put: (record, secret) => writer.write('providerKeys.put', { record, secret }),
    delete: (workspaceId, provider, name) =>
      writer.write('providerKeys.delete', { workspaceId, provider, name }),
  };
}
