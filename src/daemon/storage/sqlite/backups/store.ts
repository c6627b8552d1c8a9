import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { whenAborted } from '../../../../shared/async/when-aborted.ts';
import { contentFile } from '../../../../shared/folders.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import type { BackupStore } from '../../../features/backups/backup-store.ts';
import type { Reader } from '../engine/reader.ts';
import { removePartial } from './back-up.ts';
import type { BackupReads } from './reads.ts';

/** The folder of backups, in the data folder. */
export const backupsFolder = 'backups';

/** Each backup runs in its own thread, so that no other long read waits for it. */
export function backupStore(folder: string, newReader: () => Reader<BackupReads>): BackupStore {
  return {
    async make(order, { onProgress, signal }) {
      const to = newBackupFile(folder, order.at);
      const reader = newReader();
      signal.throwIfAborted();
      const stopWatching = whenAborted(signal, () => void reader.close());
      try {
        const content = order.withContent ? contentFile(folder) : undefined;
        return await reader.run('backup', { ...order, to, content }, onProgress);
      } finally {
        stopWatching();
        await reader.close();
        removePartial(to);
      }
    },
  };
}

function newBackupFile(folder: string, at: number): string {
  const backups = join(folder, backupsFolder);
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  const stamp = isoTime(at).replaceAll(':', '-');
  for (let count = 1; ; count += 1) {
    const path = join(backups, `gateway-${stamp}${count === 1 ? '' : `-${count}`}.db`);
    if (!existsSync(path)) return path;
  }
}
