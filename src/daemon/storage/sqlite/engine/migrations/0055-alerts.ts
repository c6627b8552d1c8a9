import type { Migration } from '../migrate.ts';

/** Alerts, when they fired, and the messages to their web hooks. */
export const alerts: Migration = {
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
};
