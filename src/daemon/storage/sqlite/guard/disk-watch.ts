import { randomFillSync } from 'node:crypto';
import { rmSync, statfsSync } from 'node:fs';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../base/log.ts';
import { poll } from './poll.ts';

/** The reserve is written only by a daemon that has been running for a minute, which is meant to stay. */
const checksBeforeReserve = 12;

/** Free bytes below which the disk is `low`, and `full`. */
export interface DiskBounds {
  lowBytes: number;
  fullBytes: number;
}

const defaultBounds: DiskBounds = { lowBytes: 256 * 1024 * 1024, fullBytes: 64 * 1024 * 1024 };

/** `low`: running calls can be settled, but no new call that costs money is admitted. `full`: no new calls at all. */
export type DiskLevel = 'enough' | 'low' | 'full';

interface DiskWatchOptions {
  folder: string;
  log: Log;
  bounds?: Partial<DiskBounds> | undefined;
  /** Replaces the folder's file system, for tests. */
  freeBytes?: () => number;
}

/** Checks the free disk space regularly. With enough space it keeps a reserve file, deleted when the disk is full. */
export function watchDisk({ folder, log, bounds: changes, freeBytes }: DiskWatchOptions) {
  const bounds = { ...defaultBounds, ...changes };
  let level: DiskLevel = 'enough';
  let checks = 0;
  let isChecking = false;

  const setLevel = (free: number): void => {
    const before = level;
    level = free < bounds.fullBytes ? 'full' : free < bounds.lowBytes ? 'low' : 'enough';
    if (level !== before) log.warn({ folder, free_bytes: free, disk: level }, 'free disk space changed');
    if (level === 'full') rmSync(reserveFile(folder), { force: true });
  };
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    try {
      const free = freeBytes ? freeBytes() : availableBytes(await statfs(folder));
      setLevel(free);
      checks += 1;
      const hasSpace = free - reserveBytes > 2 * bounds.lowBytes;
      if (hasSpace && checks >= checksBeforeReserve) await writeReserve(folder);
    } catch {
      // A folder that cannot be read or written is reported elsewhere.
    } finally {
      isChecking = false;
    }
  };

  setLevel(freeBytes ? freeBytes() : availableBytes(statfsSync(folder)));
  return { level: (): DiskLevel => level, check, ...poll(check) };
}

function availableBytes({ bavail, bsize }: { bavail: number; bsize: number }): number {
  return bavail * bsize;
}

/** Freed when the disk is full: enough to settle the running calls, and for the user to clean up. */
const reserveBytes = 32 * 1024 * 1024;
const blockBytes = 1024 * 1024;

function reserveFile(folder: string): string {
  return join(folder, 'ballast');
}

/** Writes the reserve file if it is missing or incomplete; removes it and rejects if that fails. */
async function writeReserve(folder: string): Promise<void> {
  const path = reserveFile(folder);
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size === reserveBytes) return;
  // Random bytes, because a file system may compress anything else.
  const block = randomFillSync(Buffer.allocUnsafe(blockBytes));
  const file = await open(path, 'w', 0o600);
  try {
    for (let written = 0; written < reserveBytes; written += blockBytes) await file.write(block);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
