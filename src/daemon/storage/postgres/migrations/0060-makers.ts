import type { Migration } from '../migrate.ts';

/** Links that sign a browser in are login codes; codes and access tokens know which credential made them, and end with it. */
export const makers: Migration = {
  version: 60,
  statements: [
    'ALTER TABLE login_codes ADD COLUMN maker_id text COLLATE "C"',
    'ALTER TABLE login_codes ADD COLUMN keep bigint CHECK (keep IN (0, 1))',
    'ALTER TABLE login_codes ADD COLUMN login_id text COLLATE "C"',
    'CREATE INDEX login_codes_by_maker ON login_codes (maker_id)',
    'ALTER TABLE tokens ADD COLUMN maker_id text COLLATE "C"',
    'CREATE INDEX tokens_by_maker ON tokens (maker_id)',
  ],
};
