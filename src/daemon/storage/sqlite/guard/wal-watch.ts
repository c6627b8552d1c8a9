import { stat } from 'node:fs/promises';
import type { Log } from '../../../base/log.ts';
import { poll } from './poll.ts';

const mebibyte = 1024 * 1024;

export interface WalBounds {
  /** Log a warning when the write-ahead log is larger. */
  warnBytes: number;
  /** Abort long reads when it is larger. */
  abortBytes: number;
  /** Reads younger than this, in milliseconds, are not aborted. */
  graceMs: number;
}

const defaultBounds: WalBounds = { warnBytes: 64 * mebibyte, abortBytes: 256 * mebibyte, graceMs: 5_000 };

interface WalWatchOptions {
  /** The database. */
  file: string;
  log: Pick<Log, 'warn'>;
  /** Aborts all reads if one runs longer than that; returns whether it did. */
  abortReads: (olderThanMs: number) => boolean;
  bounds?: Partial<WalBounds> | undefined;
  /** In milliseconds; default 5000. */
  everyMs?: number | undefined;
}

/**
 * Checks the size of the write-ahead log regularly. SQLite can only reset it while no read holds an older snapshot, so one
 * read that takes minutes during many writes would let it fill the disk.
 */
export function watchWal({ file, log, abortReads, bounds: changes, everyMs }: WalWatchOptions) {
  const bounds = { ...defaultBounds, ...changes };
  let hasWarned = false;
  const check = async (): Promise<void> => {
    const bytes = await stat(`${file}-wal`).then(
      ({ size }) => size,
      () => 0,
    );
    // `journal_size_limit` lets the file keep `warnBytes` after a checkpoint.
    const isLong = bytes > bounds.warnBytes;
    if (isLong && !hasWarned)
      log.warn({ bytes }, 'the write-ahead log is long: a read holds an old snapshot');
    hasWarned = isLong;
    if (bytes > bounds.abortBytes && abortReads(bounds.graceMs)) {
      log.warn({ bytes }, 'aborted long reads so that the write-ahead log can be reset');
    }
  };
  return { check, ...poll(check, everyMs) };
}
