import type { KnownProvider } from '../../../../shared/known-providers.ts';
import type { MasterStoreName } from '../../../features/vault/vault-store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

export const vaultMasters = sqliteTable('vault_masters', {
  kid: text('kid').primaryKey(),
  store: text('store').$type<MasterStoreName>().notNull(),
  proof: text('proof').notNull(),
  wrapped: text('wrapped'),
  state: text('state').$type<'current' | 'retired'>().notNull(),
  createdAt: integer('created_at').notNull(),
});

/** Columns of a `SealedSecret`, name for name. */
export const vaultSecrets = sqliteTable('vault_secrets', {
  name: text('name').primaryKey(),
  version: integer('version').notNull(),
  kid: text('kid').notNull(),
  wrappedKey: text('wrapped_key').notNull(),
  sealed: text('sealed').notNull(),
});

/** Columns of a `ProviderKeyRecord`, and the name of its secret. */
export const providerKeys = sqliteTable(
  'provider_keys',
  {
    workspaceId: text('workspace_id').notNull(),
    provider: text('provider').$type<KnownProvider>().notNull(),
    secret: text('secret').notNull(),
    fingerprint: text('fingerprint').notNull(),
    addedAt: integer('added_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.provider] })],
);
