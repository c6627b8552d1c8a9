import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DataFolderInUse, DataNeedsRepair, isDamage, sqliteCode } from '../engine/errors.ts';

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
  closeSync(openSync(file, 'a', 0o600));
  const database = new Database(file, { timeout: 0 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY')) throw new DataFolderInUse(folder);
    if (!isDamage(error)) throw error;
    throw new DataNeedsRepair(file, 'it is not a lock file; delete it if no daemon is running', {
      cause: error,
    });
  }
  return { file, release: () => void database.close() };
}
