import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { commitCountFile, countedCommits } from './commit-count.ts';
import { DataNeedsRepair } from './errors.ts';
import { writeMeta } from './meta.ts';
import { createSchema, type NewSchema } from './migrate.ts';

/** SQLite application id of Gateway databases: the letters `GWAY`. */
const applicationId = 0x47574159;

/**
 * Creates the database if it is missing. It is built under another name and renamed when complete, so that an empty or
 * truncated file always means damage, never an interrupted first start. `now`, milliseconds since 1970, counts as its last check.
 */
export function createIfMissing(file: string, schema: NewSchema, now: number): void {
  if (existsSync(file)) return;
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0) {
    throw new DataNeedsRepair(file, 'it is missing, but its write-ahead log exists');
  }
  if (countedCommits(file) > 0) {
    throw new DataNeedsRepair(file, `it is missing, but ${commitCountFile(file)} exists`);
  }
  const unfinished = `${file}.new`;
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  const database = new Database(unfinished);
  try {
    // An unfinished file is not used, so that it is flushed once, when it is complete.
    database.pragma('journal_mode = MEMORY');
    database.pragma('synchronous = OFF');
    database.pragma(`application_id = ${applicationId}`);
    createSchema(database, schema);
    writeMeta(database, 'clean_shutdown', 1);
    writeMeta(database, 'checked_at', now);
    // Later, the change would be flushed several times.
    database.pragma('journal_mode = WAL');
  } finally {
    database.close();
  }
  fsyncPath(unfinished);
  renameSync(unfinished, file);
  fsyncPath(dirname(file));
}

/**
 * Checks the header before SQLite opens the file. Source: https://www.sqlite.org/fileformat2.html#the_database_header
 * (16 bytes of magic; the application id is a big-endian uint32 at offset 68).
 */
export function checkHeader(file: string): void {
  const header = Buffer.alloc(100);
  const handle = openSync(file, 'r');
  const length = readSync(handle, header, 0, header.length, 0);
  closeSync(handle);
  if (length === 0) throw new DataNeedsRepair(file, 'it is empty');
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') {
    throw new DataNeedsRepair(file, 'it is not a SQLite database');
  }
  if (length < header.length) throw new DataNeedsRepair(file, 'it is truncated');
  if (header.readUInt32BE(68) !== applicationId) {
    throw new DataNeedsRepair(file, 'it is a database of another program');
  }
}

/** Flushes a file, or the entries of a folder, to disk. */
export function fsyncPath(path: string): void {
  // Windows cannot open folders, and persists renames on its own.
  if (process.platform === 'win32') return;
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
