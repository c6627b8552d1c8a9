import type { ScopeName } from '../../../../shared/contract/endpoint.ts';
import type { ActionName } from '../../../../shared/contract/key-limits.ts';
import type { KeyDefaults, KeyLimits } from '../../../handler.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `KeyRecord`, name for name. */
export const keys = sqliteTable('keys', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  ownerId: text('owner_id').notNull(),
  parentId: text('parent_id'),
  name: text('name').notNull(),
  digest: text('digest').notNull(),
  hint: text('hint').notNull(),
  scopes: text('scopes', { mode: 'json' }).$type<ScopeName[]>().notNull(),
  models: text('models', { mode: 'json' }).$type<string[]>(),
  actions: text('actions', { mode: 'json' }).$type<ActionName[]>(),
  limits: text('limits', { mode: 'json' }).$type<KeyLimits>(),
  defaults: text('defaults', { mode: 'json' }).$type<KeyDefaults>(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
  revokedAt: integer('revoked_at'),
});
