import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';

const chunkBytes = 4 * 1024 * 1024;

interface CopyProgress {
  doneBytes: number;
  totalBytes: number;
}

/** Copies to a new file that only its owner can read. */
export function copyWithProgress(
  from: string,
  to: string,
  onProgress: (progress: CopyProgress) => void,
): void {
  const source = openSync(from, 'r');
  const target = openSync(to, 'wx', 0o600);
  try {
    const totalBytes = statSync(from).size;
    const chunk = Buffer.alloc(Math.min(chunkBytes, Math.max(1, totalBytes)));
    let doneBytes = 0;
    for (;;) {
      const length = readSync(source, chunk);
      if (length === 0) break;
      let written = 0;
      while (written < length) written += writeSync(target, chunk, written, length - written);
      doneBytes += length;
      onProgress({ doneBytes, totalBytes });
    }
    fsyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}
