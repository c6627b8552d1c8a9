import type { KnownProvider } from '../../../../shared/known-providers.ts';
import type { MasterStoreName } from '../../../features/vault/store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

export const vaultMasters = sqliteTable('vault_masters', {
  kid: text().primaryKey(),
  store: text().$type<MasterStoreName>().notNull(),
  proof: text().notNull(),
  wrapped: text(),
  state: text().$type<'current' | 'retired'>().notNull(),
  createdAt: integer().notNull(),
});

/** Columns of a `SealedSecret`. */
export const vaultSecrets = sqliteTable('vault_secrets', {
  name: text().primaryKey(),
  version: integer().notNull(),
  kid: text().notNull(),
  wrappedKey: text().notNull(),
  sealed: text().notNull(),
});

/** Columns of a `ProviderKeyRecord`, and the name of its secret. */
export const providerKeys = sqliteTable(
  'provider_keys',
  {
    workspaceId: text().notNull(),
    provider: text().$type<KnownProvider>().notNull(),
    name: text().notNull(),
    secret: text().notNull(),
    fingerprint: text().notNull(),
    addedAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.provider, table.name] })],
);
