import { rmSync, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { StorageLog } from '../engine/log.ts';
import { ballastBytes, ballastIn, makeBallast } from './disk-reserve.ts';
import { lookEvery } from './poll.ts';

/** A daemon that is up for a minute is meant to stay: only then it takes up room for later. */
const looksBeforeBallast = 12;

/** Free bytes below which the disk is `low`, and `full`. */
export interface DiskBounds {
  lowBytes: number;
  fullBytes: number;
}

const diskBounds: DiskBounds = { lowBytes: 256 * 1024 * 1024, fullBytes: 64 * 1024 * 1024 };

/** `low`: no new calls that cost money, while those under way can be settled. `full`: nothing new at all. */
export type DiskLevel = 'enough' | 'low' | 'full';

interface Watched {
  folder: string;
  log: StorageLog;
  bounds?: Partial<DiskBounds> | undefined;
  /** Another disk than the folder's, for tests. */
  freeBytes?: () => number;
}

/**
 * Looks now and then at the free space of the folder's file system. Where there is plenty, some of it is kept in a file
 * that is given up when the disk is full.
 */
export function watchDisk({ folder, log, bounds: told, freeBytes }: Watched) {
  const bounds = { ...diskBounds, ...told };
  let level: DiskLevel = 'enough';
  let looks = 0;
  let isLooking = false;

  const note = (free: number): void => {
    const before = level;
    level = free < bounds.fullBytes ? 'full' : free < bounds.lowBytes ? 'low' : 'enough';
    if (level !== before) log.warn({ folder, free_bytes: free, level }, 'free space on the disk');
    if (level === 'full') rmSync(ballastIn(folder), { force: true });
  };
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const free = freeBytes ? freeBytes() : bytesOf(await statfs(folder));
      note(free);
      looks += 1;
      const hasRoom = free - ballastBytes > 2 * bounds.lowBytes;
      if (hasRoom && looks >= looksBeforeBallast) await makeBallast(folder);
    } catch {
      // A folder that cannot be looked at, or takes no more, shows elsewhere.
    } finally {
      isLooking = false;
    }
  };

  note(freeBytes ? freeBytes() : bytesOf(statfsSync(folder)));
  return { level: (): DiskLevel => level, look, ...lookEvery(look) };
}

function bytesOf({ bavail, bsize }: { bavail: number; bsize: number }): number {
  return bavail * bsize;
}
