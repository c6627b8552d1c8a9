import type { Connection } from './connection.ts';
import { DataIsNewer } from './errors.ts';

/** One step of the schema. `version` rises from step to step. */
export interface Migration {
  version: number;
  statements: readonly string[];
  /** By how many rows each table grows (or shrinks); tables that are not named keep theirs. */
  rows: Readonly<Record<string, number>>;
}

/** The version of the schema that the database has; 0: none yet. */
export function schemaVersion(database: Connection): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/** Whether steps are missing. Throws `DataIsNewer` when the database knows steps that this program does not. */
export function needsMigration(database: Connection, migrations: readonly Migration[]): boolean {
  const found = schemaVersion(database);
  const known = migrations.at(-1)?.version ?? 0;
  if (found > known) throw new DataIsNewer(database.name, { found, known });
  return found < known;
}

/** Runs the missing steps, each whole or not at all. The caller has made a backup. */
export function migrate(database: Connection, migrations: readonly Migration[]): void {
  const found = schemaVersion(database);
  const keysWereOn = database.pragma('foreign_keys', { simple: true });
  // The pragma does nothing inside a transaction, and with keys on, rebuilding a table empties those that refer to it.
  database.pragma('foreign_keys = OFF');
  try {
    for (const migration of migrations) if (migration.version > found) apply(database, migration);
  } finally {
    database.pragma(`foreign_keys = ${keysWereOn}`);
  }
}

function apply(database: Connection, { version, statements, rows }: Migration): void {
  database.transaction(() => {
    const before = countRows(database);
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
  const tables = database
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .pluck()
    .all();
  return new Map(
    tables.map((table) => [
      table,
      database.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0,
    ]),
  );
}
