import type { Connection } from './connection.ts';
import { UnsupportedSchema } from './errors.ts';
import { tableNames } from './integrity.ts';

type RowChanges = Readonly<Record<string, number>>;

/** One schema change. Versions increase but need not be consecutive. */
export interface Migration {
  version: number;
  /**
   * Fills new tables in transactions of its own, so that a large table neither needs memory nor a long write-ahead log. It
   * leaves old tables as they are, and starts over when an earlier attempt was killed.
   */
  prepare?: (database: Connection) => void;
  statements: readonly string[];
  /** Expected change in the number of rows per table; 0 for tables not listed. */
  rows: RowChanges | ((count: (from: string) => number) => RowChanges);
}

/** What the migrations up to a version make of an empty database. */
export interface NewSchema {
  version: number;
  statements: readonly string[];
}

/** Gives an empty database its schema, which takes a fifteenth of the time of its migrations. */
export function createSchema(database: Connection, { version, statements }: NewSchema): void {
  database.transaction(() => {
    for (const statement of statements) database.exec(statement);
    database.pragma(`user_version = ${version}`);
  })();
}

/** The schema version of the database; 0 if it has no schema. */
export function schemaVersion(database: Connection): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/** The schema versions that can be opened: from that which the first migration changes. */
export function supportedVersions(migrations: readonly Pick<Migration, 'version'>[]): {
  oldest: number;
  newest: number;
} {
  return { oldest: (migrations[0]?.version ?? 1) - 1, newest: migrations.at(-1)?.version ?? 0 };
}

/** Whether migrations are pending. Throws `UnsupportedSchema` for a newer schema, or one that is too old. */
export function needsMigration(database: Connection, migrations: readonly Migration[]): boolean {
  const found = schemaVersion(database);
  const { oldest, newest } = supportedVersions(migrations);
  if (found < oldest || found > newest) {
    throw new UnsupportedSchema(database.name, { found, oldest, newest });
  }
  return found < newest;
}

/** Runs the pending migrations, each in a transaction. The caller has made a backup. */
export function migrate(database: Connection, migrations: readonly Migration[]): void {
  const found = schemaVersion(database);
  const foreignKeys = database.pragma('foreign_keys', { simple: true });
  // The pragma has no effect inside a transaction, and with foreign keys on, rebuilding a table affects referring tables.
  database.pragma('foreign_keys = OFF');
  try {
    for (const migration of migrations) if (migration.version > found) apply(database, migration);
  } finally {
    database.pragma(`foreign_keys = ${foreignKeys}`);
  }
}

function apply(database: Connection, { version, prepare, statements, rows: changes }: Migration): void {
  prepare?.(database);
  database.transaction(() => {
    const before = countRows(database);
    const rows = typeof changes === 'function' ? changes((from) => countOf(database, from)) : changes;
    for (const statement of statements) database.exec(statement);
    const after = countRows(database);
    for (const table of new Set([...before.keys(), ...after.keys(), ...Object.keys(rows)])) {
      const grown = (after.get(table) ?? 0) - (before.get(table) ?? 0);
      if (grown !== (rows[table] ?? 0)) {
        throw new Error(`migration ${version} changed ${table} by ${grown} rows, not ${rows[table] ?? 0}`);
      }
    }
    const broken = database.pragma('foreign_key_check') as unknown[];
    if (broken.length > 0) throw new Error(`migration ${version} broke ${broken.length} references`);
    database.pragma(`user_version = ${version}`);
  })();
}

function countRows(database: Connection): Map<string, number> {
  return new Map(tableNames(database).map((table) => [table, countOf(database, `"${table}"`)]));
}

function countOf(database: Connection, from: string): number {
  return database.prepare<[], number>(`SELECT count(*) FROM ${from}`).pluck().get() ?? 0;
}
