import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DataFolderInUse, DataNeedsRepair, isDamage, sqliteCode } from '../engine/errors.ts';

/** Held as long as the daemon lives; the operating system frees it when the process dies, however it dies. */
export interface FolderLock {
  file: string;
  release(): void;
}

/**
 * Takes the folder for this process: an exclusive transaction on a SQLite file of its own, so that the main file
 * stays readable for backups. Throws `DataFolderInUse` at once when another process has it.
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
    throw new DataNeedsRepair(file, 'it is not a lock file; delete it if no daemon runs', { cause: error });
  }
  return {
    file,
    release: () => {
      database.close();
    },
  };
}
