import { randomFillSync } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What is given back when a disk is full: enough to settle the calls that run, and for a person to clear up. */
export const ballastBytes = 32 * 1024 * 1024;
const blockBytes = 1024 * 1024;

export function ballastIn(folder: string): string {
  return join(folder, 'ballast');
}

/** Takes up room with a file that holds nothing, unless it is there; rejects and leaves none where that fails. */
export async function makeBallast(folder: string): Promise<void> {
  const path = ballastIn(folder);
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size === ballastBytes) return;
  // What no file system makes smaller.
  const block = randomFillSync(Buffer.allocUnsafe(blockBytes));
  const file = await open(path, 'w', 0o600);
  try {
    for (let written = 0; written < ballastBytes; written += blockBytes) await file.write(block);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
