import { integer, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `GrantRecord`, name for name. Never changed and never deleted: triggers see to it. */
export const creditGrants = sqliteTable('credit_grants', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  amount: integer('amount').notNull(),
  note: text('note'),
  reference: text('reference'),
  grantedBy: text('granted_by').notNull(),
  createdAt: integer('created_at').notNull(),
});
