import { closeSync, existsSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Connection } from '../engine/connection.ts';
import { fsyncPath } from '../engine/database-file.ts';
import { contentTable } from './content-digest.ts';

/** Of the copy of the content, next to the unfinished backup. */
export const contentSuffix = '-content';

const pieceBytes = 1024 * 1024;

/** Adds the content of calls, as a consistent copy of its file, to a backup. Resolves to its size; 0 without a file. */
export async function addContent(backup: string, file: string): Promise<number> {
  if (!existsSync(file)) return 0;
  const copy = backup + contentSuffix;
  rmSync(copy, { force: true });
  closeSync(openSync(copy, 'wx', 0o600));
  const source = new Database(file, { readonly: true });
  try {
    // Holds one snapshot; otherwise SQLite restarts the copy after each write.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await source.backup(copy);
  } finally {
    source.close();
  }
  const database = new Database(backup, { fileMustExist: true });
  const pieces = openSync(copy, 'r');
  try {
    database.exec(`CREATE TABLE ${contentTable} (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT`);
    const insert = database.prepare(`INSERT INTO ${contentTable} (bytes) VALUES (?)`);
    const piece = Buffer.alloc(pieceBytes);
    database.transaction(() => {
      for (let length = readSync(pieces, piece); length > 0; length = readSync(pieces, piece))
        insert.run(piece.subarray(0, length));
    })();
    return statSync(copy).size;
  } finally {
    closeSync(pieces);
    database.close();
    rmSync(copy, { force: true });
  }
}

/** Writes the content of calls that a backup has to a new file. Returns whether it has some. */
export function extractContent(database: Connection, file: string): boolean {
  if (!hasContent(database)) return false;
  const target = openSync(file, 'wx', 0o600);
  try {
    const pieces = database.prepare<[], Buffer>(`SELECT bytes FROM ${contentTable} ORDER BY number`).pluck();
    for (const piece of pieces.iterate()) writeSync(target, piece);
  } finally {
    closeSync(target);
  }
  fsyncPath(file);
  return true;
}

function hasContent(database: Connection): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(contentTable) !== undefined;
}
