import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime } from '../../../../shared/time.ts';
import type { BackupStore } from '../../../features/backups/backup-store.ts';
import { Reader } from '../engine/reader.ts';
import { partialOf } from './back-up.ts';

/** Where copies lie: in the data folder. */
export const backupsFolder = 'backups';

/** Each backup has a thread of its own, so that no other long read waits for it. */
export function backupStore(folder: string, file: string): BackupStore {
  return {
    async make(order, { onProgress, signal }) {
      const to = freeName(folder, order.at);
      const reader = new Reader(file);
      const stop = () => void reader.close();
      if (signal.aborted) throw signal.reason;
      signal.addEventListener('abort', stop, { once: true });
      try {
        return await reader.askFollowing('backup', { ...order, to }, onProgress);
      } finally {
        signal.removeEventListener('abort', stop);
        await reader.close();
        for (const ending of ['', '-journal']) rmSync(partialOf(to) + ending, { force: true });
      }
    },
  };
}

function freeName(folder: string, at: number): string {
  const backups = join(folder, backupsFolder);
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  const stamp = isoTime(at).replaceAll(':', '-');
  for (let count = 1; ; count += 1) {
    const path = join(backups, `gateway-${stamp}${count === 1 ? '' : `-${count}`}.db`);
    if (!existsSync(path)) return path;
  }
}
