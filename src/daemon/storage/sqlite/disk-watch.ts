import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { StorageLog } from './log.ts';

const lookEveryMs = 5000;

interface Watched {
  folder: string;
  freeBytesMin: number;
  log: StorageLog;
}

/**
 * Looks now and then at the free space of the folder's file system, so that new calls can be refused while there is
 * still room to settle those under way.
 */
export function watchDisk({ folder, freeBytesMin, log }: Watched): {
  isLow: () => boolean;
  stop: () => void;
} {
  let low = false;
  const note = ({ bavail, bsize }: { bavail: number; bsize: number }) => {
    const freeBytes = bavail * bsize;
    const wasLow = low;
    low = freeBytes < freeBytesMin;
    if (low !== wasLow) log.warn({ folder, free_bytes: freeBytes, low }, 'free space on the disk');
  };
  note(statfsSync(folder));
  const timer = setInterval(() => {
    statfs(folder).then(note, () => {});
  }, lookEveryMs).unref();
  return { isLow: () => low, stop: () => clearInterval(timer) };
}
