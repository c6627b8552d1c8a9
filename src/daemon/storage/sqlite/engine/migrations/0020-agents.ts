import type { Migration } from '../migrate.ts';

/** Agents, their sign-ups per day, and what they used of the free tier. */
export const agents: Migration = {
  version: 20,
  rows: {},
  statements: [
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
  ],
};
