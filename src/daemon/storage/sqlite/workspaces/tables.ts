import type { WorkspaceRole } from '../../../features/workspaces/workspaces-store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** `number` is the row's own integer key: SQLite deals it out, and the site API shows it. */
export const users = sqliteTable('users', {
  number: integer('number').primaryKey(),
  id: text('id').notNull(),
  handle: text('handle').notNull(),
  name: text('name').notNull(),
  createdAt: integer('created_at').notNull(),
  email: text('email'),
  avatar: text('avatar').notNull().default(''),
  updatedAt: integer('updated_at'),
  deletedAt: integer('deleted_at'),
});

export const workspaces = sqliteTable('workspaces', {
  id: text('id').primaryKey(),
  slug: text('slug').notNull(),
  name: text('name').notNull(),
  createdAt: integer('created_at').notNull(),
  membersMayIssueKeys: integer('members_may_issue_keys', { mode: 'boolean' }).notNull(),
});

export const members = sqliteTable(
  'members',
  {
    userId: text('user_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    role: text('role').$type<WorkspaceRole>().notNull(),
    joinedAt: integer('joined_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.workspaceId] })],
);

export const logins = sqliteTable('logins', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  digest: text('digest').notNull(),
  name: text('name').notNull(),
  createdAt: integer('created_at').notNull(),
  revokedAt: integer('revoked_at'),
});

export const loginCodes = sqliteTable('login_codes', {
  digest: text('digest').primaryKey(),
  userId: text('user_id').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
});

export const invitations = sqliteTable('invitations', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  digest: text('digest').notNull(),
  role: text('role').$type<WorkspaceRole>().notNull(),
  note: text('note').notNull(),
  createdBy: text('created_by').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  acceptedBy: text('accepted_by'),
  acceptedAt: integer('accepted_at'),
  revokedAt: integer('revoked_at'),
});
