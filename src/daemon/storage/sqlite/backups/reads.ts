import type { Connection } from '../engine/connection.ts';
import { type BackupTask, backUp } from './back-up.ts';

export function backupReads(database: Connection) {
  return {
    /** Other reads run while a backup waits for its next pages. */
    backup: (task: BackupTask, onProgress: Parameters<typeof backUp>[2]) =>
      backUp(database.name, task, onProgress),
  };
}

export type BackupReads = ReturnType<typeof backupReads>;
