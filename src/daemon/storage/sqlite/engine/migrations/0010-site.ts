import type { Migration } from '../migrate.ts';

/**
 * What people do on the site API. Ids of shouts and whispers are dealt out once each (AUTOINCREMENT), also after a deletion, so
 * that they serve as cursors.
 */
export const site: Migration = {
  version: 10,
  rows: {},
  statements: [
    'ALTER TABLE users ADD COLUMN email TEXT',
    "ALTER TABLE users ADD COLUMN avatar TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE users ADD COLUMN updated_at INTEGER',
    'ALTER TABLE users ADD COLUMN deleted_at INTEGER',
    'CREATE UNIQUE INDEX users_by_email ON users (lower(email)) WHERE email IS NOT NULL',
    `CREATE TABLE tokens (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
      digest TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      abilities TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      last_used_at INTEGER,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX tokens_by_user ON tokens (user_id, id)',
    `CREATE TABLE shouts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      author INTEGER NOT NULL REFERENCES users (number) ON DELETE RESTRICT,
      zone TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      body TEXT NOT NULL
    ) STRICT`,
    'CREATE INDEX shouts_by_zone ON shouts (zone, id)',
    'CREATE INDEX shouts_by_time ON shouts (created_at, zone)',
    'CREATE INDEX shouts_by_author ON shouts (author, id)',
    `CREATE TABLE whispers (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      sender INTEGER NOT NULL REFERENCES users (number) ON DELETE RESTRICT,
      recipient INTEGER NOT NULL REFERENCES users (number) ON DELETE RESTRICT CHECK (recipient <> sender),
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      read_at INTEGER,
      body TEXT NOT NULL
    ) STRICT`,
    'CREATE INDEX whispers_by_sender ON whispers (sender, id)',
    'CREATE INDEX whispers_by_recipient ON whispers (recipient, id)',
    'CREATE INDEX whispers_by_pair ON whispers (sender, recipient, id)',
    'CREATE INDEX whispers_unread ON whispers (recipient, sender) WHERE read_at IS NULL',
    `CREATE TABLE autopilots (
      id TEXT PRIMARY KEY,
      owner INTEGER NOT NULL REFERENCES users (number) ON DELETE RESTRICT,
      handle TEXT NOT NULL UNIQUE,
      display_name TEXT NOT NULL,
      avatar TEXT NOT NULL,
      tagline TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'archived')),
      visibility TEXT NOT NULL CHECK (visibility IN ('private', 'discoverable', 'public')),
      config_version INTEGER NOT NULL CHECK (config_version >= 1),
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      profile TEXT NOT NULL,
      policy TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX autopilots_by_owner ON autopilots (owner, updated_at)',
  ],
};
