import type { MasterRecord, VaultStore } from '../../../features/vault/vault-store.ts';
import { and, eq, type Orm } from '../engine/orm.ts';
import { vaultMasters, vaultSecrets } from './tables.ts';

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
