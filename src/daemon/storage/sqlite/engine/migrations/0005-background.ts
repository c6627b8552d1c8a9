import type { Migration } from '../migrate.ts';

/** Responses that are made in the background with what they have said so far, and answers that are kept to be repeated. */
export const background: Migration = {
  version: 5,
  rows: {},
  statements: [
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
  ],
};
