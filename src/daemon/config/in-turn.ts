import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const againMs = 20;
/** Nothing takes as long as this: who has held the file has ended without a word. */
const abandonedMs = 10_000;

/**
 * Changes a file that other processes change, too, one at a time: each then starts from what the one before wrote. The sign is a
 * second file, whose folder has to exist.
 */
export async function inTurn<T>(file: string, change: () => Promise<T>): Promise<T> {
  const sign = `${file}.lock`;
  const isMine = await take(sign);
  try {
    return await change();
  } finally {
    if (isMine) await rm(sign, { force: true });
  }
}

/** Returns false where no sign can be made: the change then says why nothing can be written there. */
async function take(sign: string): Promise<boolean> {
  for (;;) {
    try {
      await (await open(sign, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
    const since = await stat(sign).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    // The clock may have been set back.
    if (Math.abs(Date.now() - since) > abandonedMs) await rm(sign, { force: true });
    else await sleep(againMs);
  }
}
