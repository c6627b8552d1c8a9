import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { lookEvery } from './poll.ts';

interface Watched {
  /** Files that are open. */
  files: readonly string[];
  /** Called once, when another file or none lies under one of the names. */
  onGone: (file: string) => void;
  /** In milliseconds; 5000 unless told. */
  everyMs?: number | undefined;
}

/**
 * Looks now and then whether files still lie where they were opened. Writes into one that was moved or deleted succeed, so
 * that calls would be acknowledged that nobody finds again; and a lock that was deleted keeps nobody out.
 */
export function watchPlace({ files, onGone, everyMs }: Watched): { stop(): void } {
  const opened = new Map(files.map((file) => [file, identityOf(statSync(file, { bigint: true }))]));
  let isGone = false;
  const look = async (): Promise<void> => {
    for (const [file, identity] of opened) {
      const found = await stat(file, { bigint: true }).then(identityOf, identityOfUnseen);
      if (isGone || found === identity || found === unknown) continue;
      isGone = true;
      watch.stop();
      onGone(file);
    }
  };
  const watch = lookEvery(look, everyMs);
  return watch;
}

const unknown = 'unknown';

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}/${ino}`;
}

/** Only a name that leads nowhere tells of a file that is gone; what cannot be looked at may still be there. */
function identityOfUnseen({ code }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'none' : unknown;
}
