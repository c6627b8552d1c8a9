import type { Migration } from '../migrate.ts';

/**
 * Copies of the ledger's entries, hashed link after link. The first link stands for the entries that were there before:
 * their number is all that it knows of them.
 */
export const ledgerChain: Migration = {
  version: 14,
  rows: { ledger_chain: 1 },
  statements: [
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
    `INSERT INTO ledger_chain (number, entries, total, hash)
      SELECT 0, '[]', count(*), zeroblob(32) FROM entries`,
  ],
};
