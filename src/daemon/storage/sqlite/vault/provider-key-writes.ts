import type { KnownProvider } from '../../../../shared/known-providers.ts';
import type { ProviderKeyRecord } from '../../../features/provider-keys/provider-keys-store.ts';
import type { SealedSecret } from '../../../features/vault/vault-store.ts';
import { and, eq, type Orm } from '../engine/orm.ts';
import { providerKeys, vaultSecrets } from './tables.ts';
import { isCurrentMaster } from './writes.ts';

type KeyRef = { workspaceId: string; provider: KnownProvider };

export function providerKeysWrites(orm: Orm) {
  return {
    'providerKeys.put': ({
      record,
      secret,
    }: {
      record: ProviderKeyRecord;
      secret: SealedSecret;
    }): boolean => {
      if (!isCurrentMaster(orm, secret.kid)) return false;
      const before = orm.select().from(vaultSecrets).where(eq(vaultSecrets.name, secret.name)).get();
      if ((before?.version ?? 0) + 1 !== secret.version) return false;
      orm
        .insert(vaultSecrets)
        .values(secret)
        .onConflictDoUpdate({ target: vaultSecrets.name, set: secret })
        .run();
      const { fingerprint, updatedAt } = record;
      orm
        .insert(providerKeys)
        .values({ ...record, secret: secret.name })
        .onConflictDoUpdate({
          target: [providerKeys.workspaceId, providerKeys.provider],
          set: { fingerprint, updatedAt },
        })
        .run();
      return true;
    },
    'providerKeys.delete': ({ workspaceId, provider }: KeyRef): boolean => {
      const [gone] = orm
        .delete(providerKeys)
        .where(and(eq(providerKeys.workspaceId, workspaceId), eq(providerKeys.provider, provider)))
        .returning({ secret: providerKeys.secret })
        .all();
      if (gone === undefined) return false;
      orm.delete(vaultSecrets).where(eq(vaultSecrets.name, gone.secret)).run();
      return true;
    },
  };
}
