import type { CaptureLevel } from '../../../../shared/constants/capture-levels.ts';
import type { LoginKind, WorkspaceRole } from '../../../features/workspaces/store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** SQLite assigns `number`, the id that the site API shows. */
export const users = sqliteTable('users', {
  number: integer().primaryKey(),
  id: text().notNull(),
  handle: text().notNull(),
  name: text().notNull(),
  createdAt: integer().notNull(),
  email: text(),
  avatar: text().notNull().default(''),
  updatedAt: integer(),
  deletedAt: integer(),
});

/** The columns of a `UserRecord`. */
export const userColumns = {
  number: users.number,
  id: users.id,
  handle: users.handle,
  name: users.name,
  createdAt: users.createdAt,
};

export const workspaces = sqliteTable('workspaces', {
  id: text().primaryKey(),
  slug: text().notNull(),
  name: text().notNull(),
  createdAt: integer().notNull(),
  membersMayIssueKeys: integer({ mode: 'boolean' }).notNull(),
  capture: text().$type<CaptureLevel>(),
});

export const members = sqliteTable(
  'members',
  {
    userId: text().notNull(),
    workspaceId: text().notNull(),
    role: text().$type<WorkspaceRole>().notNull(),
    joinedAt: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.workspaceId] })],
);

export const logins = sqliteTable('logins', {
  id: text().primaryKey(),
  userId: text().notNull(),
  digest: text().notNull(),
  name: text().notNull(),
  createdAt: integer().notNull(),
  revokedAt: integer(),
  lastUsedAt: integer(),
  kind: text().$type<LoginKind>().notNull().default('command'),
  /** Milliseconds without use after which it ends; null for a login that does not. */
  idleMs: integer(),
});

export const loginCodes = sqliteTable('login_codes', {
  digest: text().primaryKey(),
  userId: text().notNull(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  usedAt: integer(),
  makerId: text(),
  keep: integer({ mode: 'boolean' }),
  loginId: text(),
});

export const invitations = sqliteTable('invitations', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  digest: text().notNull(),
  role: text().$type<WorkspaceRole>().notNull(),
  note: text().notNull(),
  createdBy: text().notNull(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  acceptedBy: text(),
  acceptedAt: integer(),
  revokedAt: integer(),
});
