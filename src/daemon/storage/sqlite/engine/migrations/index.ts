import type { Migration } from '../migrate.ts';
import { callLabels } from './0044-call-labels.ts';
import { usageSlots } from './0045-usage-slots.ts';
import { labelSlots } from './0054-label-slots.ts';
import { untaggedCalls } from './0067-untagged-calls.ts';

const paymentColumns =
  'id, wallet_id, payment_hash, invoice, amount, fee_limit, fee, payee, description, host, backend, state, failure, created_at, expires_at, settled_at, budget, resolved_by';

/**
 * All migrations, oldest first. Never change a released one: add another at the end. Those that compute their statements have files
 * of their own.
 */
export const migrations: readonly Migration[] = [
  // What a payment by the `Payment` scheme allows is kept as it was sold.
  { version: 40, rows: {}, statements: ['ALTER TABLE paywall_challenges ADD COLUMN rights TEXT'] },
  // Finds the wallet that a phrase had before another one took its place.
  {
    version: 41,
    rows: {},
    statements: [
      'CREATE INDEX wallets_replaced ON wallets (node_id, owner_id) WHERE replaced_at IS NOT NULL',
    ],
  },
  // The latest time at which a paid token is known to have been checked, so that a clock set back revives no expiry.
  {
    version: 42,
    rows: {},
    statements: ['ALTER TABLE paywall_challenges ADD COLUMN seen_at INTEGER'],
  },
  // Autopilots run by a schedule, and what they spend on models is counted beside the spending of keys. `autopilot_occurrences` has
  // the times of schedules at which no run was started.
  {
    version: 43,
    rows: {},
    statements: [
      'ALTER TABLE holds ADD COLUMN budget TEXT',
      'ALTER TABLE calls ADD COLUMN budget INTEGER',
      'CREATE INDEX calls_by_budget ON calls (budget) WHERE budget IS NOT NULL',
      'ALTER TABLE autopilots ADD COLUMN schedule TEXT',
      'ALTER TABLE autopilots ADD COLUMN scheduled_by TEXT',
      'ALTER TABLE autopilots ADD COLUMN next_run_at INTEGER',
      'CREATE INDEX autopilots_due ON autopilots (next_run_at) WHERE next_run_at IS NOT NULL',
      `CREATE TABLE autopilot_occurrences (
      id TEXT PRIMARY KEY,
      autopilot_id TEXT NOT NULL,
      workspace_id TEXT NOT NULL,
      status TEXT NOT NULL,
      due_at INTEGER NOT NULL,
      last_due_at INTEGER NOT NULL,
      count INTEGER NOT NULL,
      reason TEXT,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX autopilot_occurrences_by_autopilot ON autopilot_occurrences (autopilot_id, id)',
      "CREATE INDEX autopilot_occurrences_claimed ON autopilot_occurrences (status) WHERE status = 'claimed'",
    ],
  },
  callLabels,
  usageSlots,
  // The origins of web pages that may use a paywall.
  {
    version: 46,
    rows: {},
    statements: ["ALTER TABLE paywalls ADD COLUMN allowed_origins TEXT NOT NULL DEFAULT '[]'"],
  },
  // Finds the autopilots that their owners show to others.
  {
    version: 47,
    rows: {},
    statements: ["CREATE INDEX autopilots_listed ON autopilots (status, id) WHERE visibility <> 'private'"],
  },
  // Wallets that are to be compared with their node since an earlier time, as a backup of that time was restored. Until that has
  // ended, they pay nothing.
  {
    version: 48,
    rows: {},
    statements: [
      `CREATE TABLE wallet_reconciliations (
      backend TEXT NOT NULL,
      network TEXT NOT NULL,
      since INTEGER NOT NULL,
      opened_at INTEGER NOT NULL,
      ended_at INTEGER,
      accepted_by TEXT CHECK (accepted_by IS NULL OR ended_at IS NOT NULL),
      PRIMARY KEY (backend, network)
    ) STRICT, WITHOUT ROWID`,
    ],
  },
  // A payment whose success was declared without a proof has no preimage; it had an empty one.
  {
    version: 49,
    rows: {},
    statements: [
      `CREATE TABLE new_payments (
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
      preimage TEXT CHECK (
        CASE WHEN state <> 'succeeded' THEN preimage IS NULL ELSE preimage IS NOT '' AND (preimage IS NOT NULL OR resolved_by IS NOT NULL) END
      ),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      settled_at INTEGER CHECK ((settled_at IS NULL) = (state = 'pending')),
      budget TEXT,
      resolved_by TEXT CHECK (resolved_by IS NULL OR state <> 'pending')
    ) STRICT, WITHOUT ROWID`,
      `INSERT INTO new_payments (${paymentColumns}, preimage) SELECT ${paymentColumns}, nullif(preimage, '') FROM payments`,
      'DROP TABLE payments',
      'ALTER TABLE new_payments RENAME TO payments',
      `CREATE UNIQUE INDEX payments_once ON payments (payment_hash) WHERE state <> 'failed'`,
      'CREATE INDEX payments_by_wallet ON payments (wallet_id, id)',
      `CREATE INDEX payments_pending ON payments (id) WHERE state = 'pending'`,
      `CREATE INDEX payments_by_budget ON payments (wallet_id, budget, created_at) WHERE budget IS NOT NULL`,
    ],
  },
  // What is unfinished belongs to the daemon that started it. What was stored before belongs to number 0, which is gone.
  {
    version: 50,
    rows: { daemons: 1 },
    statements: [
      `CREATE TABLE daemons (
      number INTEGER PRIMARY KEY,
      started_at INTEGER NOT NULL,
      successor INTEGER CHECK (successor > number)
    ) STRICT`,
      'INSERT INTO daemons (number, started_at) VALUES (0, 0)',
      ...[
        'holds',
        'idempotency_keys',
        'background_responses',
        'thread_runs',
        'autopilot_occurrences',
        'payments',
      ].map((table) => `ALTER TABLE ${table} ADD COLUMN daemon INTEGER NOT NULL DEFAULT 0`),
    ],
  },
  // Logins of browsers, which end after some time without use.
  {
    version: 51,
    rows: {},
    statements: [
      `ALTER TABLE logins ADD COLUMN kind TEXT NOT NULL DEFAULT 'command' CHECK (kind IN ('command', 'browser'))`,
      'ALTER TABLE logins ADD COLUMN idle_ms INTEGER CHECK (idle_ms > 0)',
    ],
  },
  // Budgets of workspaces, keys, users and tags, and which of their thresholds fired.
  {
    version: 52,
    rows: {},
    statements: [
      `CREATE TABLE budgets (
      workspace_id TEXT NOT NULL,
      id TEXT NOT NULL,
      scope TEXT NOT NULL,
      scope_value TEXT NOT NULL,
      period TEXT NOT NULL,
      amount INTEGER NOT NULL,
      is_hard INTEGER NOT NULL,
      thresholds TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      fired TEXT NOT NULL,
      PRIMARY KEY (workspace_id, id)
    ) STRICT, WITHOUT ROWID`,
    ],
  },
  // How much of the content of calls a workspace lets the host keep; null where the host decides.
  {
    version: 53,
    rows: {},
    statements: [
      "ALTER TABLE workspaces ADD COLUMN capture TEXT CHECK (capture IN ('off', 'memory', 'disk'))",
      'CREATE INDEX workspaces_by_capture ON workspaces (id, capture) WHERE capture IS NOT NULL',
    ],
  },
  labelSlots,
  // Alerts, when they fired, and the messages to their web hooks.
  {
    version: 55,
    rows: {},
    statements: [
      `CREATE TABLE alerts (
      workspace_id TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      window_minutes INTEGER NOT NULL,
      threshold INTEGER,
      min_calls INTEGER NOT NULL,
      key_id TEXT,
      model TEXT,
      provider TEXT,
      hook TEXT,
      state TEXT NOT NULL,
      since INTEGER NOT NULL,
      firing_id TEXT,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (workspace_id, id)
    ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE alert_firings (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL,
      alert_id TEXT NOT NULL,
      condition TEXT NOT NULL,
      value INTEGER NOT NULL,
      message TEXT NOT NULL,
      fired_at INTEGER NOT NULL,
      resolved_at INTEGER,
      resolved_value INTEGER
    ) STRICT`,
      'CREATE INDEX alert_firings_latest ON alert_firings (workspace_id, fired_at, id)',
      `CREATE TABLE alert_deliveries (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL,
      alert_id TEXT NOT NULL,
      type TEXT NOT NULL,
      body TEXT NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      next_at INTEGER,
      daemon INTEGER,
      http_status INTEGER,
      failure TEXT,
      created_at INTEGER NOT NULL
    ) STRICT`,
      'CREATE INDEX alert_deliveries_due ON alert_deliveries (next_at) WHERE next_at IS NOT NULL',
      'CREATE INDEX alert_deliveries_latest ON alert_deliveries (workspace_id, alert_id, created_at, id)',
    ],
  },
  // Until when a daemon has the database, by the clock of the server; NULL where a lock says so, as with SQLite.
  { version: 56, rows: {}, statements: ['ALTER TABLE daemons ADD COLUMN expires_at INTEGER'] },
  // Several daemons use a database of a server: any can take over the work of another.
  {
    version: 57,
    rows: {},
    statements: [
      `CREATE TABLE next_daemons (
      number INTEGER PRIMARY KEY,
      started_at INTEGER NOT NULL,
      successor INTEGER CHECK (successor <> number),
      expires_at INTEGER,
      name TEXT,
      address TEXT,
      version TEXT,
      batches INTEGER NOT NULL DEFAULT 0
    ) STRICT`,
      `INSERT INTO next_daemons (number, started_at, successor, expires_at)
     SELECT number, started_at, successor, expires_at FROM daemons`,
      'DROP TABLE daemons',
      'ALTER TABLE next_daemons RENAME TO daemons',
    ],
  },
  // What an agent's free call reserves of the free tier while it runs.
  {
    version: 58,
    rows: {},
    statements: ['ALTER TABLE holds ADD COLUMN free INTEGER CHECK (free >= 0)'],
  },
  // What writes of a daemon have changed of what others keep in memory; with SQLite, which has one daemon, it stays empty.
  {
    version: 59,
    rows: {},
    statements: [
      `CREATE TABLE changes (
      number INTEGER PRIMARY KEY,
      daemon INTEGER NOT NULL,
      changes TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT`,
    ],
  },
  // Links that sign a browser in are login codes; codes and access tokens know which credential made them, and end with it.
  {
    version: 60,
    rows: {},
    statements: [
      'ALTER TABLE login_codes ADD COLUMN maker_id TEXT',
      'ALTER TABLE login_codes ADD COLUMN keep INTEGER CHECK (keep IN (0, 1))',
      'ALTER TABLE login_codes ADD COLUMN login_id TEXT',
      'CREATE INDEX login_codes_by_maker ON login_codes (maker_id)',
      'ALTER TABLE tokens ADD COLUMN maker_id TEXT',
      'CREATE INDEX tokens_by_maker ON tokens (maker_id)',
    ],
  },
  // Counts of the rejected calls whose records made room for newer ones, by quarter of an hour; an empty text stands for none.
  {
    version: 61,
    rows: {},
    statements: [
      `CREATE TABLE rejection_totals (
      workspace_id TEXT NOT NULL,
      slot INTEGER NOT NULL,
      error_code TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      client TEXT NOT NULL,
      calls INTEGER NOT NULL CHECK (calls > 0),
      PRIMARY KEY (workspace_id, slot, error_code, key_id, model, client)
    ) STRICT, WITHOUT ROWID`,
    ],
  },
  // Keys can be paused, and get a new secret while the previous one still works for a while.
  {
    version: 62,
    rows: {},
    statements: [
      'ALTER TABLE keys ADD COLUMN rotated_at INTEGER',
      'ALTER TABLE keys ADD COLUMN paused_at INTEGER',
      `CREATE TABLE previous_secrets (
      digest TEXT PRIMARY KEY,
      key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE RESTRICT,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      hint TEXT NOT NULL,
      replaced_at INTEGER NOT NULL,
      ends_at INTEGER NOT NULL,
      last_used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX previous_secrets_by_key ON previous_secrets (key_id, replaced_at)',
    ],
  },
  // A workspace can have several keys for a provider; the first one has no name.
  {
    version: 63,
    rows: {},
    statements: [
      `CREATE TABLE new_provider_keys (
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      provider TEXT NOT NULL,
      name TEXT NOT NULL,
      secret TEXT NOT NULL UNIQUE REFERENCES vault_secrets (name) ON DELETE RESTRICT,
      fingerprint TEXT NOT NULL,
      added_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (workspace_id, provider, name)
    ) STRICT, WITHOUT ROWID`,
      `INSERT INTO new_provider_keys
     SELECT workspace_id, provider, '', secret, fingerprint, added_at, updated_at FROM provider_keys`,
      'DROP TABLE provider_keys',
      'ALTER TABLE new_provider_keys RENAME TO provider_keys',
    ],
  },
  // Daemons of a database share limits of concurrent calls.
  {
    version: 64,
    rows: {},
    statements: [
      `CREATE TABLE call_slots (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      daemon INTEGER NOT NULL,
      is_due INTEGER NOT NULL
    ) STRICT`,
      'CREATE INDEX call_slots_by_name ON call_slots (name)',
      'CREATE INDEX call_slots_by_daemon ON call_slots (daemon)',
    ],
  },
  // Budgets have a calendar, and calls hold money of the models and providers that may answer them.
  {
    version: 65,
    rows: {},
    statements: ['ALTER TABLE budgets ADD COLUMN calendar TEXT', 'ALTER TABLE holds ADD COLUMN routes TEXT'],
  },
  // Cached answers name their call, so that they can be deleted with it.
  { version: 66, rows: {}, statements: ['ALTER TABLE cached_answers ADD COLUMN request_id TEXT'] },
  untaggedCalls,
];
