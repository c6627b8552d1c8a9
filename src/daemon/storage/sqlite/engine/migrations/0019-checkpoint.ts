import type { Migration } from '../migrate.ts';

/** Adds a copy of all balances as of one link of the ledger chain, so that a start need not add up the whole ledger. */
export const checkpoint: Migration = {
  version: 19,
  rows: (count) => ({ account_checkpoints: count('accounts'), meta: 1 }),
  statements: [
    `CREATE TABLE account_checkpoints (
      id TEXT PRIMARY KEY,
      balance INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'INSERT INTO account_checkpoints SELECT id, balance FROM accounts',
    "INSERT INTO meta (name, value) VALUES ('checkpoint_link', (SELECT max(number) FROM ledger_chain))",
  ],
};
