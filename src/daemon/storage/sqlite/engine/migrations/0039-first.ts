import type { Migration } from '../migrate.ts';

/**
 * The schema of the first release. Tables that the hot path appends to are WITHOUT ROWID under ids that sort by time, or have
 * a rowid that rises: one B-tree each, filled at its right end.
 */
export const first: Migration = {
  version: 39,
  rows: { meta: 3, ledger_chain: 1, names: 5 },
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
      revoked_at INTEGER,
      last_used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX logins_by_user ON logins (user_id, name)',
    'CREATE INDEX logins_in_use ON logins (user_id, id) WHERE revoked_at IS NULL',
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

    // API keys.
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

    // The ledger.
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
    `CREATE TABLE ledger_chain (
      number INTEGER PRIMARY KEY,
      entries TEXT NOT NULL,
      total INTEGER NOT NULL CHECK (total >= 0),
      hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT`,
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

    // Running calls.
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

    // Totals.
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

    // Responses.
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
    'CREATE INDEX responses_by_workspace ON responses (workspace_id, id)',
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

    // Answers by Idempotency-Key, and the cache.
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
    `CREATE INDEX idempotency_keys_running ON idempotency_keys (scope) WHERE state = 'running'`,
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

    // Threads.
    `CREATE TABLE threads (
      id TEXT PRIMARY KEY NOT NULL,
      workspace_id TEXT NOT NULL,
      title TEXT,
      run_id TEXT,
      messages INTEGER NOT NULL CHECK (messages >= 0),
      characters INTEGER NOT NULL CHECK (characters >= 0),
      last_event INTEGER NOT NULL CHECK (last_event >= 0),
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      autopilot_id TEXT
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
      updated_at INTEGER NOT NULL,
      autopilot_id TEXT,
      autopilot_config_version INTEGER
    ) STRICT`,
    'CREATE INDEX thread_runs_by_thread ON thread_runs (thread_id, id)',
    `CREATE INDEX thread_runs_by_autopilot ON thread_runs (autopilot_id, id) WHERE autopilot_id IS NOT NULL`,
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

    // Sealed secrets.
    `CREATE TABLE vault_masters (
      kid TEXT PRIMARY KEY,
      store TEXT NOT NULL CHECK (store IN ('file', 'keychain', 'passphrase', 'plain')),
      proof TEXT NOT NULL,
      wrapped TEXT CHECK ((wrapped IS NOT NULL) = (store = 'passphrase')),
      state TEXT NOT NULL CHECK (state IN ('current', 'retired')),
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX vault_current_master ON vault_masters (state) WHERE state = 'current'`,
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

    // The site.
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
    'CREATE INDEX whispers_by_peer ON whispers (recipient, sender, id)',
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

    // Wallets.
    `CREATE TABLE wallets (
      id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      node_id TEXT NOT NULL,
      secret TEXT NOT NULL UNIQUE REFERENCES vault_secrets (name) ON DELETE RESTRICT,
      created_at INTEGER NOT NULL,
      replaced_at INTEGER,
      backend TEXT NOT NULL DEFAULT 'embedded',
      network TEXT NOT NULL DEFAULT 'regtest'
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX wallets_in_use ON wallets (owner_id, backend, network) WHERE replaced_at IS NULL`,
    `CREATE UNIQUE INDEX wallets_by_node ON wallets (node_id, backend, network) WHERE replaced_at IS NULL`,
    `CREATE TABLE wallet_deposits (
      id TEXT PRIMARY KEY,
      wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      amount INTEGER NOT NULL CHECK (amount > 0),
      created_at INTEGER NOT NULL,
      source TEXT NOT NULL DEFAULT 'faucet' CHECK (source IN ('faucet', 'backend'))
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE invoices (
      id TEXT PRIMARY KEY,
      wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      payment_hash TEXT NOT NULL UNIQUE,
      invoice TEXT NOT NULL,
      amount INTEGER NOT NULL CHECK (amount > 0),
      description TEXT NOT NULL,
      backend TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('open', 'paid')),
      received INTEGER CHECK (received > 0 AND (received IS NULL) = (state = 'open')),
      preimage TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      paid_at INTEGER CHECK ((paid_at IS NULL) = (state = 'open')),
      lapsed_at INTEGER,
      still_payable INTEGER CHECK (still_payable IS NULL OR (still_payable = 1 AND state = 'paid'))
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX invoices_by_wallet ON invoices (wallet_id, id)',
    `CREATE INDEX invoices_open ON invoices (backend, id) WHERE lapsed_at IS NULL AND (state = 'open' OR still_payable = 1)`,
    `CREATE TABLE payments (
      id TEXT PRIMARY KEY,
      wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      payment_hash TEXT NOT NULL,
      invoice TEXT NOT NULL,
      amount INTEGER NOT NULL CHECK (amount > 0),
      fee_limit INTEGER NOT NULL CHECK (fee_limit >= 0),
      fee INTEGER CHECK (fee >= 0 AND (fee IS NOT NULL) = (state = 'succeeded')),
      payee TEXT NOT NULL,
      description TEXT,
      host TEXT,
      backend TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
      failure TEXT CHECK ((failure IS NOT NULL) = (state = 'failed')),
      preimage TEXT CHECK ((preimage IS NOT NULL) = (state = 'succeeded')),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      settled_at INTEGER CHECK ((settled_at IS NULL) = (state = 'pending')),
      budget TEXT,
      resolved_by TEXT CHECK (resolved_by IS NULL OR state <> 'pending')
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX payments_once ON payments (payment_hash) WHERE state <> 'failed'`,
    'CREATE INDEX payments_by_wallet ON payments (wallet_id, id)',
    `CREATE INDEX payments_pending ON payments (id) WHERE state = 'pending'`,
    `CREATE INDEX payments_by_budget ON payments (wallet_id, budget, created_at) WHERE budget IS NOT NULL`,

    // Finished calls: texts that many of them share are numbers of `names`.
    `CREATE TABLE names (
      number INTEGER PRIMARY KEY,
      text TEXT NOT NULL UNIQUE
    ) STRICT`,
    `CREATE TABLE calls (
      number INTEGER PRIMARY KEY,
      request_id TEXT NOT NULL UNIQUE,
      response_id TEXT,
      workspace INTEGER NOT NULL,
      key INTEGER,
      endpoint INTEGER NOT NULL,
      model INTEGER NOT NULL,
      provider INTEGER,
      streamed INTEGER NOT NULL,
      own_key INTEGER NOT NULL,
      status INTEGER NOT NULL,
      error_code INTEGER,
      input INTEGER NOT NULL CHECK (input >= 0),
      cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
      cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
      output INTEGER NOT NULL CHECK (output >= 0),
      reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
      tokens_reported INTEGER NOT NULL,
      cost_provider INTEGER CHECK (cost_provider >= 0),
      cost_margin INTEGER CHECK ((cost_margin IS NULL) = (cost_provider IS NULL)),
      charged INTEGER NOT NULL CHECK (charged >= 0),
      ttft_ms INTEGER,
      total_ms INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      completed_at INTEGER NOT NULL,
      details TEXT NOT NULL
    ) STRICT`,
    `CREATE TABLE usage_days (
      workspace INTEGER NOT NULL,
      day INTEGER NOT NULL,
      model INTEGER NOT NULL,
      provider INTEGER NOT NULL,
      status INTEGER NOT NULL,
      requests INTEGER NOT NULL CHECK (requests >= 0),
      unpriced INTEGER NOT NULL CHECK (unpriced >= 0),
      input INTEGER NOT NULL CHECK (input >= 0),
      cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
      cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
      output INTEGER NOT NULL CHECK (output >= 0),
      reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
      cost_provider INTEGER NOT NULL CHECK (cost_provider >= 0),
      cost_margin INTEGER NOT NULL,
      charged INTEGER NOT NULL CHECK (charged >= 0),
      PRIMARY KEY (workspace, day, model, provider, status)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE usage_key_days (
      workspace INTEGER NOT NULL,
      key INTEGER NOT NULL,
      day INTEGER NOT NULL,
      model INTEGER NOT NULL,
      provider INTEGER NOT NULL,
      status INTEGER NOT NULL,
      requests INTEGER NOT NULL CHECK (requests >= 0),
      unpriced INTEGER NOT NULL CHECK (unpriced >= 0),
      input INTEGER NOT NULL CHECK (input >= 0),
      cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
      cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
      output INTEGER NOT NULL CHECK (output >= 0),
      reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
      cost_provider INTEGER NOT NULL CHECK (cost_provider >= 0),
      cost_margin INTEGER NOT NULL,
      charged INTEGER NOT NULL CHECK (charged >= 0),
      PRIMARY KEY (workspace, key, day, model, provider, status)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE call_index (
      workspace INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      value INTEGER NOT NULL,
      completed_at INTEGER NOT NULL,
      number INTEGER NOT NULL,
      PRIMARY KEY (workspace, kind, value, completed_at, number)
    ) STRICT, WITHOUT ROWID`,

    // Rejected calls.
    `CREATE TABLE rejections (
      request_id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL,
      key_id TEXT,
      address TEXT,
      endpoint TEXT NOT NULL,
      model TEXT,
      streamed INTEGER NOT NULL CHECK (streamed IN (0, 1)),
      http_status INTEGER,
      error_code TEXT NOT NULL,
      param TEXT,
      message TEXT NOT NULL,
      total_ms INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      completed_at INTEGER NOT NULL,
      more INTEGER NOT NULL CHECK (more >= 0)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX rejections_by_end ON rejections (workspace_id, completed_at, request_id)',
    `CREATE TABLE account_checkpoints (
      id TEXT PRIMARY KEY,
      balance INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,

    // Agents.
    `CREATE TABLE agents (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL UNIQUE REFERENCES workspaces (id) ON DELETE RESTRICT,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE agent_challenges (
      challenge TEXT PRIMARY KEY,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX agent_challenges_by_expiry ON agent_challenges (expires_at)',
    `CREATE TABLE agent_sign_ups (
      day TEXT NOT NULL,
      origin TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (day, origin)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE agent_days (
      day TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      free_requests INTEGER NOT NULL,
      free_cost INTEGER NOT NULL,
      decisions INTEGER NOT NULL,
      others INTEGER NOT NULL,
      PRIMARY KEY (day, agent_id)
    ) STRICT, WITHOUT ROWID`,

    // Decisions.
    `CREATE TABLE decision_calibrations (
      model TEXT NOT NULL,
      type TEXT NOT NULL,
      temperature REAL NOT NULL,
      examples INTEGER NOT NULL,
      nll_before REAL NOT NULL,
      nll_after REAL NOT NULL,
      fitted_at INTEGER NOT NULL,
      PRIMARY KEY (model, type)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE decision_days (
      day TEXT PRIMARY KEY,
      cost INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,

    // Paywalls.
    `CREATE TABLE paywalls (
      id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      owner INTEGER NOT NULL,
      name TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
      host TEXT,
      path_prefix TEXT NOT NULL,
      methods TEXT NOT NULL,
      upstream TEXT NOT NULL,
      headers TEXT,
      may_be_private INTEGER NOT NULL,
      price_sats INTEGER NOT NULL CHECK (price_sats > 0),
      auth_scheme TEXT NOT NULL,
      token TEXT NOT NULL,
      free_paths TEXT NOT NULL,
      free_requests_per_day INTEGER NOT NULL,
      rate_limit TEXT,
      revision INTEGER NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      deleted_at INTEGER CHECK ((deleted_at IS NOT NULL) = (status = 'deleted')),
      challenges INTEGER NOT NULL DEFAULT 0,
      paid INTEGER NOT NULL DEFAULT 0,
      revenue INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX paywalls_by_name ON paywalls (owner, name) WHERE status <> 'deleted'`,
    'CREATE INDEX paywalls_by_owner ON paywalls (owner, id)',
    `CREATE INDEX paywalls_serving ON paywalls (path_prefix) WHERE status <> 'deleted'`,
    `CREATE TABLE paywall_challenges (
      id TEXT PRIMARY KEY,
      paywall_id TEXT NOT NULL REFERENCES paywalls (id) ON DELETE RESTRICT,
      invoice_id TEXT NOT NULL UNIQUE,
      payment_hash TEXT NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      uses INTEGER NOT NULL DEFAULT 0 CHECK (uses >= 0),
      payment_id TEXT,
      request TEXT CHECK ((request IS NULL) = (payment_id IS NULL))
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX paywall_challenges_by_payment ON paywall_challenges (payment_id) WHERE payment_id IS NOT NULL`,
    'CREATE INDEX paywall_challenges_unused ON paywall_challenges (expires_at) WHERE uses = 0',
    `CREATE TABLE paywall_free_uses (
      day TEXT NOT NULL,
      paywall_id TEXT NOT NULL,
      client TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (day, paywall_id, client)
    ) STRICT, WITHOUT ROWID`,

    // Calls that are paid one by one.
    `CREATE TABLE payment_challenges (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      credential_id TEXT NOT NULL,
      method TEXT,
      path TEXT,
      digest TEXT CHECK ((digest IS NULL) = (method IS NULL) AND (digest IS NULL) = (path IS NULL)),
      invoice_id TEXT NOT NULL UNIQUE REFERENCES invoices (id) ON DELETE RESTRICT,
      invoice TEXT NOT NULL UNIQUE,
      payment_hash TEXT NOT NULL UNIQUE,
      network TEXT NOT NULL,
      request_hash TEXT,
      payee TEXT CHECK ((payee IS NULL) = (request_hash IS NULL)),
      amount INTEGER NOT NULL CHECK (amount > 0),
      credit INTEGER NOT NULL CHECK (credit > 0),
      rate INTEGER NOT NULL CHECK (rate > 0),
      rate_source TEXT NOT NULL,
      rate_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX payment_challenges_open ON payment_challenges (credential_id, digest, expires_at) WHERE used_at IS NULL`,
    `CREATE INDEX payment_challenges_by_expiry ON payment_challenges (expires_at) WHERE used_at IS NULL`,
    `CREATE INDEX payment_challenges_used ON payment_challenges (workspace_id, credit) WHERE used_at IS NOT NULL`,

    // Peers.
    `CREATE TABLE peers (
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      name TEXT NOT NULL,
      url TEXT NOT NULL,
      secret TEXT,
      key_fingerprint TEXT CHECK ((key_fingerprint IS NULL) = (secret IS NULL)),
      allowed_models TEXT,
      max_in_flight INTEGER NOT NULL CHECK (max_in_flight > 0),
      enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      insecure_http INTEGER NOT NULL CHECK (insecure_http IN (0, 1)),
      may_be_private INTEGER NOT NULL CHECK (may_be_private IN (0, 1)),
      added_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      answered INTEGER NOT NULL,
      failed INTEGER NOT NULL,
      latency_ms REAL,
      last_seen_at INTEGER,
      benches INTEGER NOT NULL,
      benched_until INTEGER,
      reason TEXT,
      compared INTEGER NOT NULL DEFAULT 0 CHECK (compared >= 0),
      agreed INTEGER NOT NULL DEFAULT 0 CHECK (agreed BETWEEN 0 AND compared),
      PRIMARY KEY (workspace_id, name)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE peer_attempts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      peer TEXT NOT NULL,
      request_id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      code INTEGER,
      hedged INTEGER NOT NULL CHECK (hedged IN (0, 1)),
      ms REAL NOT NULL,
      at INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX peer_attempts_by_workspace ON peer_attempts (workspace_id, id)',
    `CREATE TABLE wallet_nodes (
      backend TEXT NOT NULL,
      network TEXT NOT NULL,
      node_id TEXT NOT NULL,
      trusted_at INTEGER NOT NULL,
      PRIMARY KEY (backend, network)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE usage_keys (
      workspace INTEGER NOT NULL,
      model INTEGER NOT NULL,
      days INTEGER NOT NULL CHECK (days IN (1, 32)),
      start INTEGER NOT NULL CHECK (start % days = 0),
      key INTEGER NOT NULL,
      requests INTEGER NOT NULL CHECK (requests >= 0),
      unpriced INTEGER NOT NULL CHECK (unpriced >= 0),
      input INTEGER NOT NULL CHECK (input >= 0),
      cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
      cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
      output INTEGER NOT NULL CHECK (output >= 0),
      reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
      cost_provider INTEGER NOT NULL CHECK (cost_provider >= 0),
      cost_margin INTEGER NOT NULL,
      charged INTEGER NOT NULL CHECK (charged >= 0),
      PRIMARY KEY (workspace, model, days, start, key)
    ) STRICT, WITHOUT ROWID`,

    // Views and triggers.
    `CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
      BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END`,
    `CREATE TRIGGER entries_last BEFORE DELETE ON entries
      BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END`,
    `CREATE TRIGGER ledger_chain_stays BEFORE UPDATE ON ledger_chain
      BEGIN SELECT RAISE(ABORT, 'links of the ledger chain are never changed'); END`,
    `CREATE TRIGGER ledger_chain_lasts BEFORE DELETE ON ledger_chain
      BEGIN SELECT RAISE(ABORT, 'links of the ledger chain are never deleted'); END`,
    `CREATE TRIGGER credit_grants_stay BEFORE UPDATE ON credit_grants
      BEGIN SELECT RAISE(ABORT, 'grants of credit are never changed'); END`,
    `CREATE TRIGGER credit_grants_last BEFORE DELETE ON credit_grants
      BEGIN SELECT RAISE(ABORT, 'grants of credit are never deleted'); END`,
    `CREATE TRIGGER wallets_not_overdrawn BEFORE UPDATE ON accounts
      WHEN NEW.balance < 0 AND (NEW.id GLOB 'msat:wallet:*' OR NEW.id = 'msat:in-flight')
      BEGIN SELECT RAISE(ABORT, 'a wallet would be overdrawn'); END`,
    `CREATE VIEW usage AS SELECT number, request_id, response_id,
      (SELECT text FROM names WHERE number = calls.workspace) AS workspace_id,
      (SELECT text FROM names WHERE number = calls.key) AS key_id,
      (SELECT text FROM names WHERE number = calls.endpoint) AS endpoint,
      (SELECT text FROM names WHERE number = calls.model) AS model,
      (SELECT text FROM names WHERE number = calls.provider) AS provider,
      streamed, own_key,
      (SELECT text FROM names WHERE number = calls.status) AS status,
      (SELECT text FROM names WHERE number = calls.error_code) AS error_code,
      input, cached_input, cache_write, output, reasoning, tokens_reported, cost_provider, cost_margin, charged,
      ttft_ms, total_ms, created_at, completed_at, details
      FROM calls`,
    `CREATE TRIGGER paywalls_paid AFTER UPDATE OF state ON invoices
      WHEN NEW.state = 'paid' AND OLD.state = 'open'
      BEGIN UPDATE paywalls SET paid = paid + 1, revenue = revenue + NEW.received
        WHERE id = (SELECT paywall_id FROM paywall_challenges WHERE invoice_id = NEW.id); END`,

    // Where each sequence begins.
    "INSERT INTO meta (name, value) VALUES ('checkpoint_link', 0), ('first_event', 1), ('folded_to', 0)",
    "INSERT INTO ledger_chain (number, entries, total, hash) VALUES (0, '[]', 0, zeroblob(32))",
    // `call_index` lists calls with any other status than the first.
    `INSERT INTO names (number, text) VALUES
      (1, 'completed'), (2, 'incomplete'), (3, 'failed'), (4, 'canceled'), (5, 'interrupted')`,
  ],
};
