import { UnsupportedSchema, UnsupportedServer } from '../sqlite/engine/errors.ts';
import { supportedVersions } from '../sqlite/engine/migrate.ts';

/** One schema change. Versions increase but need not be consecutive. */
export interface Migration {
  version: number;
  statements: readonly string[];
}

/** Runs one statement on one connection; `$1` stands for the first parameter. */
export type Query = (sql: string, params?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

/** Daemons that start at the same time migrate one after the other; any number that nothing else in the database uses will do. */
const lock = 0x47574159;
const oldestServer = 15;

/**
 * Creates the schema `gateway` or brings it up to date, in one transaction. Rejects with `UnsupportedServer`, or with
 * `UnsupportedSchema` if a newer version of Gateway has changed it; nothing is changed then. Resolves to the version of the schema.
 */
export async function migrate(query: Query, migrations: readonly Migration[]): Promise<number> {
  await checkServer(query);
  const { oldest, newest } = supportedVersions(migrations);
  const found = await schemaVersion(query);
  if (found === newest) return newest;
  await query('BEGIN');
  try {
    await query('SELECT pg_advisory_xact_lock($1)', [lock]);
    const current = (await schemaVersion(query)) ?? 0;
    if (current > newest || (current > 0 && current < oldest)) {
      const [row] = await query('SELECT current_database() AS name');
      throw new UnsupportedSchema(
        `The database ${row?.name}`,
        { found: current, oldest, newest },
        'use another database',
      );
    }
    await query('CREATE SCHEMA IF NOT EXISTS gateway');
    await query('SET LOCAL search_path TO gateway');
    await query(
      'CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    for (const { version, statements } of migrations) {
      if (version <= current) continue;
      for (const statement of statements) await query(statement);
      await query('INSERT INTO migrations (version) VALUES ($1)', [version]);
    }
    await query('COMMIT');
    return newest;
  } catch (error) {
    await query('ROLLBACK');
    throw error;
  }
}

async function checkServer(query: Query): Promise<void> {
  const [row] = await query(
    "SELECT version() AS version, current_setting('server_version_num') AS number, current_setting('server_encoding') AS encoding",
  );
  const [other] =
    /CockroachDB|Redshift/.exec(String(row?.version)) ??
    (/-YB-/.test(String(row?.version)) ? ['YugabyteDB'] : []);
  if (other !== undefined) throw new UnsupportedServer(`The server is ${other}.`);
  const major = Math.floor(Number(row?.number) / 10_000);
  if (major < oldestServer) throw new UnsupportedServer(`The server is PostgreSQL ${major}.`);
  if (row?.encoding !== 'UTF8')
    throw new UnsupportedServer(`The encoding of the database is ${row?.encoding}, not UTF8.`);
}

/** Undefined if the database has no schema of Gateway. */
async function schemaVersion(query: Query): Promise<number | undefined> {
  const [table] = await query('SELECT to_regclass(\'gateway.migrations\') IS NOT NULL AS "isThere"');
  if (!table?.isThere) return undefined;
  const [row] = await query('SELECT max(version) AS version FROM gateway.migrations');
  return Number(row?.version ?? 0);
}
