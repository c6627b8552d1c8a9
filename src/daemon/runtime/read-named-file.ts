import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeText } from '../../shared/text/decode-text.ts';

interface ReadLimits {
  /** A larger file is not read. */
  bytesMax: number;
  /** How long to wait for the other end of a pipe. */
  waitMs?: number | undefined;
  /** Throws if the file is not to be read. */
  check?: (stats: Stats) => void;
}

/** A file cannot be read. `problem` is the predicate of a sentence about it. */
export class FileUnreadable extends Error {
  readonly problem: string;
  /** Of the system; undefined if the content is the problem. */
  readonly code: string | undefined;

  constructor(path: string, problem: string, cause?: NodeJS.ErrnoException) {
    super(`${path} ${problem}.`, { cause });
    this.name = 'FileUnreadable';
    this.problem = problem;
    this.code = cause?.code;
  }

  get isAbsent(): boolean {
    return this.code === 'ENOENT' || this.code === 'ENOTDIR';
  }

  /** About `it`, for a list of faults by file. */
  get sentence(): string {
    return this.isAbsent ? 'There is no such file.' : `It ${this.problem}.`;
  }
}

const mebibyte = 1024 ** 2;
const pollMs = 50;

/**
 * Reads a file that the operator names, so it may be anything. An ordinary read of a pipe that no one writes to would occupy one
 * of the few threads for files until then, and the process could not even exit. Fails with `FileUnreadable`.
 */
export async function readNamedFile(path: string, limits: ReadLimits): Promise<Buffer> {
  try {
    // Windows has no such flag, and no such pipes.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return await readOpenFile(file, path, limits);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof FileUnreadable || code === undefined) throw error;
    throw new FileUnreadable(path, `cannot be read (${code})`, error as NodeJS.ErrnoException);
  }
}

/** The same as text: UTF-8, or the UTF-16 that `>` of PowerShell writes. */
export async function readNamedText(path: string, limits: ReadLimits): Promise<string> {
  return decodeText(await readNamedFile(path, limits));
}

async function readOpenFile(
  file: FileHandle,
  path: string,
  { bytesMax, waitMs = 5_000, check }: ReadLimits,
): Promise<Buffer> {
  const stats = await file.stat();
  check?.(stats);
  if (stats.isDirectory()) throw new FileUnreadable(path, 'is a folder');
  const chunks: Buffer[] = [];
  let bytes = stats.isFile() ? stats.size : 0;
  const requireSize = () => {
    if (bytes > bytesMax) {
      throw new FileUnreadable(path, `is larger than ${Math.floor(bytesMax / mebibyte)} MiB`);
    }
  };
  requireSize();
  bytes = 0;
  const until = performance.now() + waitMs;
  for (;;) {
    const chunk = await readChunk(file);
    const isWaiting = chunk === undefined || (chunk.length === 0 && bytes === 0 && stats.isFIFO());
    if (!isWaiting) {
      if (chunk.length === 0) return Buffer.concat(chunks);
      chunks.push(chunk);
      bytes += chunk.length;
      requireSize();
    } else if (performance.now() < until) await delay(pollMs);
    else {
      const end = bytes === 0 ? 'to which nothing was written' : 'that its writer did not close';
      throw new FileUnreadable(path, `is a pipe ${end} for ${waitMs / 1_000} seconds`);
    }
  }
}

/** Empty at the end; undefined if there may be more later. */
async function readChunk(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(65_536), 0, 65_536, null);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}
