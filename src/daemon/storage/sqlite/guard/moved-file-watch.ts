import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { poll } from './poll.ts';

interface MovedFileWatchOptions {
  /** Open files. */
  files: readonly string[];
  /** Called once, when a path is missing or leads to another file. */
  onMoved: (file: string) => void;
  /** In milliseconds; default 5000. */
  everyMs?: number | undefined;
}

/**
 * Checks regularly that open files are still at their paths. Writes to a moved or deleted file succeed, so calls would be
 * acknowledged whose records are lost; and a deleted lock file no longer locks anything.
 */
export function watchMovedFiles({ files, onMoved, everyMs }: MovedFileWatchOptions): { stop(): void } {
  const opened = new Map(files.map((file) => [file, identityOf(statSync(file, { bigint: true }))]));
  let hasMoved = false;
  const check = async (): Promise<void> => {
    for (const [file, identity] of opened) {
      const found = await stat(file, { bigint: true }).then(identityOf, identityAfterError);
      if (hasMoved || found === identity || found === unknown) continue;
      hasMoved = true;
      watch.stop();
      onMoved(file);
    }
  };
  const watch = poll(check, everyMs);
  return watch;
}

const unknown = 'unknown';

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}/${ino}`;
}

/** Only a missing path proves that a file is gone; after any other error it may still be there. */
function identityAfterError({ code }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'none' : unknown;
}
