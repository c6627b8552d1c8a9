import { stat } from 'node:fs/promises';
import type { StorageLog } from '../engine/log.ts';
import { lookEvery } from './poll.ts';

const mebibyte = 1024 * 1024;

/** Sizes of the write-ahead log: past the first it is told, past the second long reads are given up. */
export interface WalBounds {
  tellBytes: number;
  endBytes: number;
  /** How long a read may take all the same, in milliseconds. */
  readMs: number;
}

const walBounds: WalBounds = { tellBytes: 64 * mebibyte, endBytes: 256 * mebibyte, readMs: 5_000 };

interface Watched {
  /** The database. */
  file: string;
  log: Pick<StorageLog, 'warn'>;
  /** Gives up the reads that take longer than that; true when there were any. */
  endReads: (olderThanMs: number) => boolean;
  bounds?: Partial<WalBounds> | undefined;
  /** In milliseconds; 5000 unless told. */
  everyMs?: number | undefined;
}

/**
 * Looks now and then how long the write-ahead log is. It is emptied whenever nobody reads an old state of the data, so one
 * read that takes minutes beside many writes would let it fill the disk.
 */
export function watchWal({ file, log, endReads, bounds: told, everyMs }: Watched) {
  const bounds = { ...walBounds, ...told };
  let isTold = false;
  const look = async (): Promise<void> => {
    const bytes = await stat(`${file}-wal`).then(
      ({ size }) => size,
      () => 0,
    );
    // The file keeps up to the first bound when it was emptied.
    const isLong = bytes > bounds.tellBytes;
    if (isLong && !isTold) log.warn({ bytes }, 'the write-ahead log is long: something reads an old state');
    isTold = isLong;
    if (bytes > bounds.endBytes && endReads(bounds.readMs)) {
      log.warn({ bytes }, 'a long read was given up, so that the write-ahead log can be emptied');
    }
  };
  return { look, ...lookEvery(look, everyMs) };
}
