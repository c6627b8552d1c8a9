import { ownerScopes, type ScopeName } from '../../../../shared/contract/endpoint.ts';
import type { ActionName } from '../../../../shared/contract/key-limits.ts';
import type { KeyDefaults, KeyLimits } from '../../../base/handler.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `KeyRecord`. */
export const keys = sqliteTable('keys', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  ownerId: text().notNull(),
  parentId: text(),
  name: text().notNull(),
  digest: text().notNull(),
  hint: text().notNull(),
  scopes: text({ mode: 'json' }).$type<ScopeName[]>().notNull(),
  models: text({ mode: 'json' }).$type<string[]>(),
  actions: text({ mode: 'json' }).$type<ActionName[]>(),
  limits: text({ mode: 'json' }).$type<KeyLimits>(),
  defaults: text({ mode: 'json' }).$type<KeyDefaults>(),
  createdAt: integer().notNull(),
  lastUsedAt: integer(),
  revokedAt: integer(),
  rotatedAt: integer(),
  pausedAt: integer(),
});

/** Columns of a `PreviousSecret`. */
export const previousSecrets = sqliteTable('previous_secrets', {
  digest: text().primaryKey(),
  keyId: text().notNull(),
  workspaceId: text().notNull(),
  hint: text().notNull(),
  replacedAt: integer().notNull(),
  endsAt: integer().notNull(),
  lastUsedAt: integer(),
});

/**
 * SQL for the scopes that a row of `keys` keeps when it passes to another owner: its previous owner may still have the
 * secret, and must not act in the name or with the role of the new one.
 */
export const inheritedScopes = `(SELECT json_group_array(value) FROM json_each(keys.scopes)
  WHERE value NOT IN (${ownerScopes.map((scope) => `'${scope}'`).join(', ')}))`;
