import type { Connection } from './connection.ts';

/**
 * Problems that SQLite finds in its pages, or those of one table. The quick check skips indexes and the CHECKs of tables
 * WITHOUT ROWID.
 */
export function pageProblems(
  database: Connection,
  pragma: 'quick_check' | 'integrity_check',
  table?: string,
): string[] {
  const rows = database
    .prepare<[], string>(`PRAGMA ${pragma}(${table ?? 20})`)
    .pluck()
    .all();
  return rows.filter((text) => text !== 'ok');
}

export function tableNames(database: Connection): string[] {
  return database
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .pluck()
    .all();
}

/** Tables with rows whose foreign keys lead nowhere. */
export function referenceProblems(database: Connection): string[] {
  const broken = database.pragma('foreign_key_check') as { table: string }[];
  return [...new Set(broken.map(({ table }) => `${table} has rows with dangling references`))];
}
