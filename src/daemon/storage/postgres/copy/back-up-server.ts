import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { BackupProgress, BackupRecord } from '../../../features/backups/backup-store.ts';
import { type BackupTask, requireFreeSpace, writeBackup } from '../../sqlite/backups/back-up.ts';
import { copyDatabase } from './copy-database.ts';
import { openPostgresSource } from './postgres-side.ts';
import { openSqliteTarget } from './sqlite-side.ts';

/** Backs up the database of a server as one moment of it, while daemons use it. */
export async function backUpServer(
  url: string,
  task: BackupTask,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupRecord> {
  return await writeBackup(task, onProgress, async (partial) => {
    const source = await openPostgresSource({ url, isInUse: true });
    try {
      const totalBytes = await source.bytes();
      requireFreeSpace(totalBytes, dirname(task.to));
      const target = openSqliteTarget(partial, task.at);
      try {
        const onRows = ({ doneRows, totalRows }: { doneRows: number; totalRows: number }) =>
          onProgress({ doneBytes: Math.round((totalBytes * doneRows) / Math.max(1, totalRows)), totalBytes });
        await copyDatabase({
          source,
          target,
          onProgress: (progress) => {
            if (progress.step === 'copying') onRows(progress);
          },
        });
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
    endTerms(partial);
  });
}

/** No daemon uses the backup. */
function endTerms(file: string): void {
  const database = new Database(file);
  database.exec('UPDATE daemons SET expires_at = NULL');
  database.close();
}
