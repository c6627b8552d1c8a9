import type { Migration } from '../migrate.ts';

/**
 * The schema of the first release. Tables that the hot path appends to are WITHOUT ROWID under ids that sort by time: one
 * B-tree each, filled at its right end.
 */
export const first: Migration = {
  version: 14,
  rows: { ledger_chain: 1 },
  statements: [
    // Numbers of the engine itself.
    `CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,

    // Users, workspaces and how users sign in.
    `CREATE TABLE users (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      handle TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      email TEXT,
      avatar TEXT NOT NULL DEFAULT '',
      updated_at INTEGER,
      deleted_at INTEGER
    ) STRICT`,
    'CREATE UNIQUE INDEX users_by_email ON users (lower(email)) WHERE email IS NOT NULL',
    `CREATE TABLE workspaces (
      id TEXT PRIMARY KEY,
      slug TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      members_may_issue_keys INTEGER NOT NULL DEFAULT 0 CHECK (members_may_issue_keys IN (0, 1))
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
    `CREATE TABLE login_codes (
      digest TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX login_codes_by_expiry ON login_codes (expires_at)',
    `CREATE TABLE invitations (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      digest TEXT NOT NULL UNIQUE,
      role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
      note TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      accepted_by TEXT,
      accepted_at INTEGER CHECK ((accepted_at IS NULL) = (accepted_by IS NULL)),
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX invitations_by_workspace ON invitations (workspace_id, id)',
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

    // Keys.
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
      revoked_at INTEGER,
      models TEXT,
      actions TEXT,
      limits TEXT,
      defaults TEXT
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX keys_by_workspace ON keys (workspace_id, created_at, id)',
    'CREATE INDEX keys_by_parent ON keys (parent_id) WHERE parent_id IS NOT NULL',

    // Money. Entries have no foreign key to accounts, because a batch adds up balances and writes them last.
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
    `CREATE TABLE ledger_chain (
      number INTEGER PRIMARY KEY,
      entries TEXT NOT NULL,
      total INTEGER NOT NULL CHECK (total >= 0),
      hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT`,
    `CREATE TRIGGER ledger_chain_stays BEFORE UPDATE ON ledger_chain
      BEGIN SELECT RAISE(ABORT, 'links of the ledger chain are never changed'); END`,
    `CREATE TRIGGER ledger_chain_lasts BEFORE DELETE ON ledger_chain
      BEGIN SELECT RAISE(ABORT, 'links of the ledger chain are never deleted'); END`,
    `CREATE TABLE credit_grants (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      amount INTEGER NOT NULL CHECK (amount > 0),
      note TEXT,
      reference TEXT UNIQUE,
      granted_by TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX credit_grants_by_workspace ON credit_grants (workspace_id, id)',
    `CREATE TRIGGER credit_grants_stay BEFORE UPDATE ON credit_grants
      BEGIN SELECT RAISE(ABORT, 'grants of credit are never changed'); END`,
    `CREATE TRIGGER credit_grants_last BEFORE DELETE ON credit_grants
      BEGIN SELECT RAISE(ABORT, 'grants of credit are never deleted'); END`,
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
      completed_at INTEGER NOT NULL,
      trace TEXT
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
    // Link 0 of the chain stands for the entries before the chain, of which there are none.
    "INSERT INTO ledger_chain (number, entries, total, hash) VALUES (0, '[]', 0, zeroblob(32))",

    // Stored, background and cached responses. Their long columns come last, as SQLite reads a row from its start up to the last
    // column that is needed.
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
    `CREATE TABLE background_responses (
      id TEXT PRIMARY KEY NOT NULL,
      workspace_id TEXT NOT NULL,
      request_id TEXT NOT NULL,
      previous_id TEXT,
      streamed INTEGER NOT NULL CHECK (streamed IN (0, 1)),
      is_running INTEGER NOT NULL CHECK (is_running IN (0, 1)),
      last_sequence INTEGER CHECK (last_sequence >= 0),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      input TEXT NOT NULL,
      body TEXT NOT NULL
    ) STRICT`,
    'CREATE INDEX background_responses_by_expiry ON background_responses (expires_at)',
    'CREATE INDEX background_responses_running ON background_responses (id) WHERE is_running = 1',
    `CREATE TABLE response_events (
      response_id TEXT NOT NULL REFERENCES background_responses (id) ON DELETE RESTRICT,
      last_sequence INTEGER NOT NULL CHECK (last_sequence >= 0),
      text TEXT NOT NULL,
      PRIMARY KEY (response_id, last_sequence)
    ) STRICT`,
    `CREATE TABLE idempotency_keys (
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      request_id TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('running', 'done')),
      started_at INTEGER NOT NULL,
      lease_until INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      headers TEXT,
      answer BLOB,
      PRIMARY KEY (scope, key)
    ) STRICT`,
    'CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at)',
    "CREATE INDEX idempotency_keys_running ON idempotency_keys (scope) WHERE state = 'running'",
    `CREATE TABLE cached_answers (
      workspace_id TEXT NOT NULL,
      digest TEXT NOT NULL,
      model TEXT NOT NULL,
      provider_model TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      bytes INTEGER NOT NULL CHECK (bytes >= 0),
      events TEXT NOT NULL,
      PRIMARY KEY (workspace_id, digest)
    ) STRICT`,
    'CREATE INDEX cached_answers_by_expiry ON cached_answers (expires_at)',
    'CREATE INDEX cached_answers_by_use ON cached_answers (used_at, bytes)',

    // Threads. `run_id` is the running call; the counters save counting the messages.
    `CREATE TABLE threads (
      id TEXT PRIMARY KEY NOT NULL,
      workspace_id TEXT NOT NULL,
      title TEXT,
      run_id TEXT,
      messages INTEGER NOT NULL CHECK (messages >= 0),
      characters INTEGER NOT NULL CHECK (characters >= 0),
      last_event INTEGER NOT NULL CHECK (last_event >= 0),
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX threads_by_workspace ON threads (workspace_id, id)',
    'CREATE INDEX threads_working ON threads (id) WHERE run_id IS NOT NULL',
    `CREATE TABLE thread_runs (
      id TEXT PRIMARY KEY NOT NULL,
      thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE RESTRICT,
      request_id TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
      model TEXT NOT NULL,
      provider TEXT,
      usage TEXT,
      meta TEXT NOT NULL,
      error TEXT,
      started_at INTEGER NOT NULL,
      completed_at INTEGER,
      updated_at INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX thread_runs_by_thread ON thread_runs (thread_id, id)',
    `CREATE TABLE thread_messages (
      thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE RESTRICT,
      position INTEGER NOT NULL CHECK (position >= 0),
      id TEXT NOT NULL UNIQUE,
      run_id TEXT NOT NULL,
      is_output INTEGER NOT NULL CHECK (is_output IN (0, 1)),
      created_at INTEGER NOT NULL,
      item TEXT NOT NULL,
      PRIMARY KEY (thread_id, position)
    ) STRICT`,
    `CREATE TABLE thread_events (
      thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE RESTRICT,
      sequence INTEGER NOT NULL CHECK (sequence >= 1),
      id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      type TEXT NOT NULL,
      at INTEGER NOT NULL,
      payload TEXT NOT NULL,
      PRIMARY KEY (thread_id, sequence)
    ) STRICT`,
    'CREATE INDEX thread_events_by_run ON thread_events (run_id, sequence)',

    // Events.
    `CREATE TABLE events (
      sequence INTEGER PRIMARY KEY,
      type TEXT NOT NULL,
      workspace_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      data TEXT NOT NULL
    ) STRICT`,

    // Secrets. Each is sealed by its own key, and that key by a master key, so that a rotation rewrites only wrapped keys.
    `CREATE TABLE vault_masters (
      kid TEXT PRIMARY KEY,
      store TEXT NOT NULL CHECK (store IN ('file', 'keychain', 'passphrase', 'plain')),
      proof TEXT NOT NULL,
      wrapped TEXT CHECK ((wrapped IS NOT NULL) = (store = 'passphrase')),
      state TEXT NOT NULL CHECK (state IN ('current', 'retired')),
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    "CREATE UNIQUE INDEX vault_current_master ON vault_masters (state) WHERE state = 'current'",
    `CREATE TABLE vault_secrets (
      name TEXT PRIMARY KEY,
      version INTEGER NOT NULL CHECK (version > 0),
      kid TEXT NOT NULL REFERENCES vault_masters (kid) ON DELETE RESTRICT,
      wrapped_key TEXT NOT NULL,
      sealed TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX vault_secrets_by_master ON vault_secrets (kid)',
    `CREATE TABLE provider_keys (
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      provider TEXT NOT NULL,
      secret TEXT NOT NULL UNIQUE REFERENCES vault_secrets (name) ON DELETE RESTRICT,
      fingerprint TEXT NOT NULL,
      added_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (workspace_id, provider)
    ) STRICT, WITHOUT ROWID`,

    // The site API. AUTOINCREMENT never reuses ids, which serve as cursors.
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
