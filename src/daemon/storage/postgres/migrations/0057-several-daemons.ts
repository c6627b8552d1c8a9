import type { Migration } from '../migrate.ts';
import { timeNow } from './functions.ts';

const text = 'text COLLATE "C"';

/**
 * Several daemons use the database: any can take over the work of another. `batches` counts the commits of each.
 */
export const severalDaemons: Migration = {
  version: 57,
  statements: [
    'ALTER TABLE daemons DROP CONSTRAINT daemons_check',
    'ALTER TABLE daemons ADD CONSTRAINT daemons_check CHECK (successor <> number)',
    ...['name', 'address', 'version'].map((column) => `ALTER TABLE daemons ADD COLUMN ${column} ${text}`),
    'ALTER TABLE daemons ADD COLUMN batches bigint NOT NULL DEFAULT 0',
    timeNow,
  ],
};
