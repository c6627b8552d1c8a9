import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnusable, UnsupportedSchema, UnsupportedServer } from '../sqlite/engine/errors.ts';
import { supportedVersions } from '../sqlite/engine/migrate.ts';
import { migrationLock, serverClock, writeLock } from './engine/locks.ts';

/** One schema change. Versions increase but need not be consecutive. */
export interface Migration {
  version: number;
  statements: readonly string[];
}

export interface ServerSchema {
  /** What a new database gets, with its version. */
  created: () => Migration;
  /** How older ones are changed, oldest first. */
  migrations: readonly Migration[];
}

/** Runs one statement on one connection; `$1` stands for the first parameter. */
export type Query = (sql: string, params?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

const oldestServer = 15;
/** Daemons have terms since this version of the schema. */
const termsSince = 56;
const pollMs = 500;

/**
 * Creates the schema `gateway` or brings it up to date, in one transaction. Rejects with `UnsupportedServer`, or with
 * `UnsupportedSchema` if a newer version of Gateway has changed it, and with `DatabaseUnusable` while daemons of an older one use
 * it; nothing is changed then. Resolves to the version of the schema.
 */
export async function migrate(query: Query, { created, migrations }: ServerSchema): Promise<number> {
  await checkServer(query);
  const { oldest, newest } = supportedVersions(migrations);
  const found = await schemaVersion(query);
  if (found === newest) return newest;
  await othersEnded(query, found);
  await query('BEGIN');
  try {
    await query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    // No daemon registers until the schema is changed.
    await query('SELECT pg_advisory_xact_lock($1)', [writeLock]);
    const current = (await schemaVersion(query)) ?? 0;
    if (current > newest || (current > 0 && current < oldest)) {
      const [row] = await query('SELECT current_database() AS name');
      throw new UnsupportedSchema(
        `The database ${row?.name}`,
        { found: current, oldest, newest },
        'use another database',
      );
    }
    if (current < newest) requireNone(await runningDaemons(query, current));
    await query('CREATE SCHEMA IF NOT EXISTS gateway');
    await query('SET LOCAL search_path TO gateway');
    await query(
      'CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const first = current === 0 ? [created()] : [];
    const since = first[0]?.version ?? current;
    for (const { version, statements } of [...first, ...migrations.filter((one) => one.version > since)]) {
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

/** Waits for the end of the terms of daemons that no longer renew them. */
async function othersEnded(query: Query, version: number | undefined): Promise<void> {
  const first = await runningDaemons(query, version);
  for (let running = first; running.size > 0; running = await runningDaemons(query, version)) {
    if ([...running].some(([daemon, expiresAt]) => expiresAt > (first.get(daemon) ?? 0)))
      requireNone(running);
    await sleep(pollMs);
  }
}

/** Until when the term of each daemon lasts, in milliseconds since 1970. */
async function runningDaemons(query: Query, version = 0): Promise<ReadonlyMap<number, number>> {
  if (version < termsSince) return new Map();
  const rows = await query(
    `SELECT number, expires_at FROM gateway.daemons WHERE successor IS NULL AND expires_at > ${serverClock} ORDER BY number`,
  );
  return new Map(rows.map(({ number, expires_at }) => [Number(number), Number(expires_at)]));
}

function requireNone(daemons: ReadonlyMap<number, number>): void {
  if (daemons.size === 0) return;
  throw new DatabaseUnusable(
    `Daemons of an older version use the database (${[...daemons.keys()].join(', ')}). Stop them first, as this version \
changes its schema.`,
  );
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
