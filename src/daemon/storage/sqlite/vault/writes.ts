import type { KnownProvider } from '../../../../shared/known-providers.ts';
import type { ProviderKeyRecord } from '../../../features/provider-keys/store.ts';
import type { MasterRecord, SealedSecret, VaultStore } from '../../../features/vault/store.ts';
import { and, eq, type Orm } from '../engine/orm.ts';
import { providerKeys, vaultMasters, vaultSecrets } from './tables.ts';

export function vaultWrites(orm: Orm) {
  const isCurrent = (kid: string) => isCurrentMaster(orm, kid);

  return {
    'vault.addMaster': (record: MasterRecord): boolean => {
      const found = orm.select({ kid: vaultMasters.kid }).from(vaultMasters).limit(1).get();
      if (found !== undefined) return false;
      orm
        .insert(vaultMasters)
        .values({ ...record, state: 'current' })
        .run();
      return true;
    },
    'vault.rotate': ({ from, to, rewrapped }: Parameters<VaultStore['rotate']>[0]): boolean => {
      if (!isCurrent(from)) return false;
      const kept = orm.select({ name: vaultSecrets.name, version: vaultSecrets.version }).from(vaultSecrets);
      const versions = new Map(kept.all().map(({ name, version }) => [name, version]));
      const isWhole = rewrapped.every(({ name, version }) => versions.get(name) === version);
      if (!isWhole || versions.size !== rewrapped.length) return false;
      orm.update(vaultMasters).set({ state: 'retired' }).where(eq(vaultMasters.kid, from)).run();
      orm
        .insert(vaultMasters)
        .values({ ...to, state: 'current' })
        .run();
      for (const { name, wrappedKey } of rewrapped) {
        orm.update(vaultSecrets).set({ kid: to.kid, wrappedKey }).where(eq(vaultSecrets.name, name)).run();
      }
      return true;
    },
    'vault.putSecret': (secret: SealedSecret): boolean => putSecret(orm, secret),
    'vault.deleteSecret': (name: string): void => {
      orm.delete(vaultSecrets).where(eq(vaultSecrets.name, name)).run();
    },
    'vault.dropMaster': (kid: string): void => {
      orm
        .delete(vaultMasters)
        .where(and(eq(vaultMasters.kid, kid), eq(vaultMasters.state, 'retired')))
        .run();
    },
  };
}

/** Whether secrets may be sealed under this master key now. */
export function isCurrentMaster(orm: Orm, kid: string): boolean {
  const found = orm
    .select({ kid: vaultMasters.kid })
    .from(vaultMasters)
    .where(and(eq(vaultMasters.kid, kid), eq(vaultMasters.state, 'current')))
    .get();
  return found !== undefined;
}

/** Stores the next version of a secret. Returns false without a change if its master or version is outdated. */
export function putSecret(orm: Orm, secret: SealedSecret): boolean {
  if (!isCurrentMaster(orm, secret.kid)) return false;
  const before = orm.select().from(vaultSecrets).where(eq(vaultSecrets.name, secret.name)).get();
  if ((before?.version ?? 0) + 1 !== secret.version) return false;
  orm
    .insert(vaultSecrets)
    .values(secret)
    .onConflictDoUpdate({ target: vaultSecrets.name, set: secret })
    .run();
  return true;
}

type KeyRef = { workspaceId: string; provider: KnownProvider; name: string };

export function providerKeysWrites(orm: Orm) {
  return {
    'providerKeys.put': ({
      record,
      secret,
    }: {
      record: ProviderKeyRecord;
      secret: SealedSecret;
    }): boolean => {
      if (!putSecret(orm, secret)) return false;
      const { fingerprint, updatedAt } = record;
      orm
        .insert(providerKeys)
        .values({ ...record, secret: secret.name })
        .onConflictDoUpdate({
          target: [providerKeys.workspaceId, providerKeys.provider, providerKeys.name],
          set: { fingerprint, updatedAt },
        })
        .run();
      return true;
    },
    'providerKeys.delete': ({ workspaceId, provider, name }: KeyRef): boolean => {
      const [gone] = orm
        .delete(providerKeys)
        .where(
          and(
            eq(providerKeys.workspaceId, workspaceId),
            eq(providerKeys.provider, provider),
            eq(providerKeys.name, name),
          ),
        )
        .returning({ secret: providerKeys.secret })
        .all();
      if (gone === undefined) return false;
      orm.delete(vaultSecrets).where(eq(vaultSecrets.name, gone.secret)).run();
      return true;
    },
  };
}

export type VaultWrites = ReturnType<typeof vaultWrites>;

export type ProviderKeysWrites = ReturnType<typeof providerKeysWrites>;
