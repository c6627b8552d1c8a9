import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { requireFile } from '../sqlite/guard/file-kind.ts';

/** SQLite application id of content files: the letters `GWCO`. */
const applicationId = 0x4757434f;
const version = 1;

const schema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE parts (
  -- Never used again: a record names its parts, also after one was deleted.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  digest TEXT NOT NULL UNIQUE,
  -- The call that introduced it.
  number INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX parts_number ON parts (number);
-- The last call that has a part, about. Apart from the parts, as it changes often and they are large.
CREATE TABLE uses (id INTEGER PRIMARY KEY, last_use INTEGER NOT NULL) STRICT;
CREATE TABLE captures (
  number INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX captures_request ON captures (request_id);
CREATE INDEX captures_workspace ON captures (workspace_id, number);
PRAGMA user_version = ${version};
PRAGMA application_id = ${applicationId};
`;

/** Requests whose content someone deleted; not in earlier files of this version. */
const deletedTable = `
CREATE TABLE IF NOT EXISTS deleted (request_id TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deleted_number ON deleted (number);
`;

/** The file cannot be read: it is damaged, or another program's, or of another version. */
export class ContentFileUnusable extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(problem, options);
    this.name = 'ContentFileUnusable';
  }
}

/**
 * Opens the file, or creates it. What is deleted is overwritten with zeros. A crash loses what was written last; the file stays
 * sound.
 */
export function openContentFile(file: string): Database.Database {
  requireFile(file);
  if (!existsSync(file)) {
    deleteContentFile(file);
    closeSync(openSync(file, 'wx', 0o600));
  }
  const isNew = statSync(file).size === 0;
  const database = new Database(file, { fileMustExist: true });
  try {
    if (isNew) database.pragma('auto_vacuum = INCREMENTAL');
    database.pragma('journal_mode = wal');
    for (const setting of [
      'synchronous = NORMAL',
      'secure_delete = ON',
      'trusted_schema = 0',
      'cell_size_check = 1',
      'journal_size_limit = 4194304',
      'mmap_size = 0',
      'busy_timeout = 5000',
    ])
      database.pragma(setting);
    if (isNew) database.transaction(() => database.exec(schema))();
    const found = [
      database.pragma('application_id', { simple: true }),
      database.pragma('user_version', { simple: true }),
    ];
    if (found[0] !== applicationId || found[1] !== version)
      throw new ContentFileUnusable('it is of another program or version');
    database.exec(deletedTable);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function deleteContentFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
}
