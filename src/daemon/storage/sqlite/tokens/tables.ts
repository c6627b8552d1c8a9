import type { Ability } from '../../../../shared/contract/endpoint.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `TokenRecord`. */
export const tokens = sqliteTable('tokens', {
  id: text().primaryKey(),
  userId: text().notNull(),
  digest: text().notNull(),
  name: text().notNull(),
  abilities: text({ mode: 'json' }).$type<Ability[]>().notNull(),
  createdAt: integer().notNull(),
  expiresAt: integer(),
  lastUsedAt: integer(),
  revokedAt: integer(),
  makerId: text(),
});
