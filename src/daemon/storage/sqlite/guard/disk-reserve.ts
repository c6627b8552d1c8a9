import { randomFillSync } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Freed when the disk is full: enough to settle the running calls, and for the user to clean up. */
export const reserveBytes = 32 * 1024 * 1024;
const blockBytes = 1024 * 1024;

export function reserveFile(folder: string): string {
  return join(folder, 'ballast');
}

/** Writes the reserve file if it is missing or incomplete; removes it and rejects if that fails. */
export async function writeReserve(folder: string): Promise<void> {
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
