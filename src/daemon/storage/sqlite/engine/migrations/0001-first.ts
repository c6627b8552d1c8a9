import type { Migration } from '../migrate.ts';

/**
 * Tables that the hot path appends to are WITHOUT ROWID under ids that sort by time: one B-tree each, filled at its
 * right end. Ledger entries refer to accounts without a foreign key, because a batch sums balances up and writes
 * them last; the sums check covers what the key would have. The long columns of a response come last, as SQLite reads
 * a row from its beginning up to the column that is asked for.
 */
export const first: Migration = {
  version: 1,
  rows: {},
  statements: [
    `CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,

    `CREATE TABLE users (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      handle TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE workspaces (
      id TEXT PRIMARY KEY,
      slug TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE members (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
      joined_at INTEGER NOT NULL,
      PRIMARY KEY (user_id, workspace_id)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX members_by_workspace ON members (workspace_id)',
    `CREATE TABLE logins (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
      digest TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX logins_by_user ON logins (user_id, name)',

    `CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      owner_id TEXT NOT NULL,
      parent_id TEXT REFERENCES keys (id) ON DELETE RESTRICT,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      scopes TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      last_used_at INTEGER,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX keys_by_workspace ON keys (workspace_id, created_at, id)',
    'CREATE INDEX keys_by_parent ON keys (parent_id) WHERE parent_id IS NOT NULL',

    `CREATE TABLE accounts (
      id TEXT PRIMARY KEY,
      balance INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE entries (
      request_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      debit TEXT NOT NULL,
      credit TEXT NOT NULL CHECK (credit <> debit),
      amount INTEGER NOT NULL CHECK (amount > 0),
      created_at INTEGER NOT NULL,
      PRIMARY KEY (request_id, kind)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
      BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END`,
    `CREATE TRIGGER entries_last BEFORE DELETE ON entries
      BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END`,
    `CREATE TABLE holds (
      request_id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL,
      key_id TEXT,
      endpoint TEXT NOT NULL,
      model TEXT NOT NULL,
      streamed INTEGER NOT NULL,
      own_key INTEGER NOT NULL,
      amount INTEGER NOT NULL CHECK (amount >= 0),
      prompt_input INTEGER NOT NULL,
      prompt_cached_input INTEGER NOT NULL,
      prompt_cache_write INTEGER NOT NULL,
      prompt_output INTEGER NOT NULL,
      prompt_reasoning INTEGER NOT NULL,
      prompt_cost INTEGER NOT NULL CHECK (prompt_cost >= 0),
      created_at INTEGER NOT NULL,
      progress_input INTEGER,
      progress_cached_input INTEGER,
      progress_cache_write INTEGER,
      progress_output INTEGER,
      progress_reasoning INTEGER,
      progress_cost INTEGER CHECK (progress_cost >= 0),
      provider TEXT
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE usage (
      request_id TEXT PRIMARY KEY,
      response_id TEXT,
      workspace_id TEXT NOT NULL,
      key_id TEXT,
      endpoint TEXT NOT NULL,
      model TEXT NOT NULL,
      provider TEXT,
      streamed INTEGER NOT NULL,
      own_key INTEGER NOT NULL,
      status TEXT NOT NULL,
      error_code TEXT,
      input INTEGER NOT NULL CHECK (input >= 0),
      cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
      cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
      output INTEGER NOT NULL CHECK (output >= 0),
      reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
      tokens_reported INTEGER NOT NULL,
      cost_provider INTEGER CHECK (cost_provider >= 0),
      cost_margin INTEGER CHECK ((cost_margin IS NULL) = (cost_provider IS NULL)),
      charged INTEGER NOT NULL CHECK (charged >= 0),
      attempts TEXT NOT NULL,
      ttft_ms INTEGER,
      total_ms INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      completed_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX usage_by_workspace ON usage (workspace_id, completed_at)',
    `CREATE TABLE key_spend (
      key_id TEXT NOT NULL,
      day TEXT NOT NULL,
      amount INTEGER NOT NULL CHECK (amount >= 0),
      PRIMARY KEY (key_id, day)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE served_days (
      day TEXT NOT NULL,
      caller TEXT NOT NULL,
      own_key INTEGER NOT NULL,
      tier TEXT NOT NULL,
      requests INTEGER NOT NULL CHECK (requests >= 0),
      input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
      output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
      PRIMARY KEY (day, caller, own_key, tier)
    ) STRICT, WITHOUT ROWID`,

    `CREATE TABLE responses (
      id TEXT PRIMARY KEY NOT NULL,
      workspace_id TEXT NOT NULL,
      request_id TEXT NOT NULL,
      previous_id TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      output TEXT NOT NULL,
      input TEXT NOT NULL,
      body TEXT NOT NULL
    ) STRICT`,
    'CREATE INDEX responses_by_expiry ON responses (expires_at)',
    `CREATE TABLE response_items (
      item_id TEXT NOT NULL,
      response_id TEXT NOT NULL REFERENCES responses (id) ON DELETE RESTRICT,
      place TEXT NOT NULL CHECK (place IN ('input', 'output')),
      position INTEGER NOT NULL CHECK (position >= 0),
      PRIMARY KEY (item_id, response_id)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX response_items_by_response ON response_items (response_id)',

    `CREATE TABLE events (
      sequence INTEGER PRIMARY KEY,
      type TEXT NOT NULL,
      workspace_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      data TEXT NOT NULL
    ) STRICT`,
  ],
};
