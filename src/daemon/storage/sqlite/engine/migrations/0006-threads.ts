import type { Migration } from '../migrate.ts';

/**
 * Conversations that are kept: a thread, the calls that were made in it, what they added, and what happened. `run_id` is the one run that
 * is under way; a thread's sums save counting what it holds.
 */
export const threads: Migration = {
  version: 6,
  rows: {},
  statements: [
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
  ],
};
