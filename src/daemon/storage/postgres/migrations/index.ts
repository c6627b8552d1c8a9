import { migrations as ofSqlite } from '../../sqlite/engine/migrations/index.ts';
import type { Migration, ServerSchema } from '../migrate.ts';
import { timeNow } from './functions.ts';
import { newestServerSchema, serverStatement } from './newest-schema.ts';

/** The version of the first schema that a server had. */
const first = 55;

/** What servers do in other statements than SQLite, by the version of the migration. */
const others: Readonly<Record<number, readonly string[]>> = {
  // `batches` counts the commits of each daemon.
  57: [
    'ALTER TABLE daemons DROP CONSTRAINT daemons_check',
    'ALTER TABLE daemons ADD CONSTRAINT daemons_check CHECK (successor <> number)',
    ...['name', 'address', 'version'].map(
      (column) => `ALTER TABLE daemons ADD COLUMN ${column} text COLLATE "C"`,
    ),
    'ALTER TABLE daemons ADD COLUMN batches bigint NOT NULL DEFAULT 0',
    timeNow,
  ],
  63: [
    `ALTER TABLE provider_keys ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT ''`,
    'ALTER TABLE provider_keys ALTER COLUMN name DROP DEFAULT',
    'ALTER TABLE provider_keys DROP CONSTRAINT provider_keys_pkey',
    'ALTER TABLE provider_keys ADD PRIMARY KEY (workspace_id, provider, name)',
  ],
};

/** The migrations of SQLite, in the server's language. */
const migrations: readonly Migration[] = ofSqlite
  .filter(({ version }) => version > first)
  .map(({ version, statements }) => ({
    version,
    statements: others[version] ?? statements.map(serverStatement),
  }));

/** What a database on a server contains, and how an older one gets there. */
export const serverSchema: ServerSchema = { created: newestServerSchema, migrations };
