import type { Migration } from '../migrate.ts';

/** How many answers of a peer were compared with those of another source, and how many were the same. */
export const peerAgreement: Migration = {
  version: 36,
  rows: {},
  statements: [
    'ALTER TABLE peers ADD COLUMN compared INTEGER NOT NULL DEFAULT 0 CHECK (compared >= 0)',
    'ALTER TABLE peers ADD COLUMN agreed INTEGER NOT NULL DEFAULT 0 CHECK (agreed BETWEEN 0 AND compared)',
  ],
};
