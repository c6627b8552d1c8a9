import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DataFileUnusable, DataFolderInUse, isDamage, sqliteCode } from '../engine/errors.ts';
import { requireFile } from './file-kind.ts';

/** The operating system releases it when the process ends, even after a crash. */
export interface FolderLock {
  file: string;
  release(): void;
}

/**
 * Locks the folder for this process by an exclusive transaction on a separate SQLite file, so that the database stays
 * readable for backups. Throws `DataFolderInUse` immediately if another process holds it.
 */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, 'daemon.lock');
  requireFile(file);
  closeSync(openSync(file, 'a', 0o600));
  const database = new Database(file, { timeout: 0 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY')) throw new DataFolderInUse(folder);
    if (!isDamage(error)) throw error;
    throw new DataFileUnusable(file, 'is not a lock file', 'Delete it if no daemon is running.', {
      cause: error,
    });
  }
  return { file, release: () => void database.close() };
}
