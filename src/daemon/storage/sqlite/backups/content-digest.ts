import { createHash } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';

/** Table with facts about a backup, in the backup. */
export const infoTable = 'backup_info';
/** Table with the small files of the data folder, in the backup. */
export const filesTable = 'backup_files';

/** Table with pieces of the file with the content of calls, in the backup. */
export const contentTable = 'backup_content';

const chunkLength = 64 * 1024;

/**
 * SHA-256 of all tables and rows in hex, except for the table that stores the digest. SQLite has no checksums, so only
 * this detects a flipped bit in a backup.
 */
export function contentDigest(database: Connection): string {
  const hash = createHash('sha256');
  let text = '';
  const add = (more: string) => {
    text += more;
    if (text.length < chunkLength) return;
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
    if (name === contentTable) {
      // Text would take a minute per gigabyte.
      hash.update(text);
      text = '';
      for (const bytes of pieces(database)) hash.update(bytes);
      continue;
    }
    for (const row of database.prepare(`SELECT * FROM "${name}"`).raw().iterate()) {
      add(`${JSON.stringify(row)}\n`);
    }
  }
  return hash.update(text).digest('hex');
}

function pieces(database: Connection): IterableIterator<Buffer> {
  return database.prepare<[], Buffer>(`SELECT bytes FROM ${contentTable} ORDER BY number`).pluck().iterate();
}
