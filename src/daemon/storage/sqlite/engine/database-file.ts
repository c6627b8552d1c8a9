import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { DataNeedsRepair } from './errors.ts';
import { writeMeta } from './meta.ts';
import { type Migration, migrate } from './migrate.ts';

/** Marks the file as one of this program: the letters `GWAY`. */
const applicationId = 0x47574159;

/**
 * Makes the database when there is none. It is built under another name and renamed when it is whole, so that an
 * empty or headless file under its own name always means damage, never an interrupted first start.
 */
export function createIfMissing(file: string, migrations: readonly Migration[]): void {
  if (existsSync(file)) return;
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0) {
    throw new DataNeedsRepair(file, 'it is missing, though its write-ahead log is there');
  }
  const unfinished = `${file}.new`;
  for (const ending of ['', '-journal']) rmSync(unfinished + ending, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  const database = new Database(unfinished);
  try {
    database.pragma('synchronous = FULL');
    database.pragma(`application_id = ${applicationId}`);
    migrate(database, migrations);
    writeMeta(database, 'clean_shutdown', 1);
  } finally {
    database.close();
  }
  renameSync(unfinished, file);
  syncPath(dirname(file));
}

/**
 * Looks at the header before SQLite touches the file. Source: "The Database Header" in SQLite's file format
 * (16 bytes of magic; the application id is four bytes, big end first, at offset 68).
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
  if (length < header.length) throw new DataNeedsRepair(file, 'it is cut off');
  if (header.readUInt32BE(68) !== applicationId) {
    throw new DataNeedsRepair(file, 'it is a database of another program');
  }
}

/** Makes a file, or the names in a folder, last through a power cut. */
export function syncPath(path: string): void {
  // Windows can open no folder, and keeps renames without being asked.
  if (process.platform === 'win32') return;
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
