import type { Ability } from '../../../../shared/contract/endpoint.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `TokenRecord`, name for name. */
export const tokens = sqliteTable('tokens', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  digest: text('digest').notNull(),
  name: text('name').notNull(),
  abilities: text('abilities', { mode: 'json' }).$type<Ability[]>().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  lastUsedAt: integer('last_used_at'),
  revokedAt: integer('revoked_at'),
});
