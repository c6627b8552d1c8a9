import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';

const chunkBytes = 4 * 1024 * 1024;

interface Copied {
  doneBytes: number;
  totalBytes: number;
}

/** Copies a file into a new one that only its owner reads, and tells how far it is. */
export function copyFollowed(from: string, to: string, onProgress: (copied: Copied) => void): void {
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
