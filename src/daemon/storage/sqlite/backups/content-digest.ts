import { createHash } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';

/** Table with facts about a backup, in the backup. */
export const infoTable = 'backup_info';
/** Table with the small files of the data folder, in the backup. */
export const filesTable = 'backup_files';

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
    for (const row of database.prepare(`SELECT * FROM "${name}"`).raw().iterate()) {
      add(`${JSON.stringify(row)}\n`);
    }
  }
  return hash.update(text).digest('hex');
}
