import { createHash } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';

/** Facts about a backup, in a table of its own in the backup. */
export const infoTable = 'backup_info';
/** The small files beside a database, in its backup. */
export const filesTable = 'backup_files';

const hashedAtOnce = 64 * 1024;

/**
 * SHA-256 of every table and every row, in hex; the table that holds the digest itself is left out. SQLite has no
 * checksums of its own: only this tells that a bit of a backup flipped.
 */
export function contentDigest(database: Connection): string {
  const hash = createHash('sha256');
  let text = '';
  const add = (more: string) => {
    text += more;
    if (text.length < hashedAtOnce) return;
    hash.update(text);
    text = '';
  };
  const tables = database
    .prepare<[string], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> ? ORDER BY name`,
    )
    .all(infoTable);
  for (const { name, sql } of tables) {
    add(`${sql}\n`);
    for (const row of database.prepare(`SELECT * FROM "${name}"`).raw().iterate()) {
      add(`${JSON.stringify(row)}\n`);
    }
  }
  return hash.update(text).digest('hex');
}

/** What is wrong with a copy, whatever the version of its schema; empty when nothing is. */
export function pagesAndReferences(database: Connection): string[] {
  const pages = database.pragma('integrity_check(20)') as { integrity_check: string }[];
  const broken = database.pragma('foreign_key_check') as { table: string }[];
  return [
    ...pages.map((row) => row.integrity_check).filter((text) => text !== 'ok'),
    ...new Set(broken.map(({ table }) => `rows of ${table} refer to nothing`)),
  ];
}
