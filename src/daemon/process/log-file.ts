import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { logFiles } from '../../shared/folders.ts';

export interface LogFile {
  /** Writes one line, newline included. Never throws: a log that cannot be written must not stop the daemon. */
  write(line: string): void;
  close(): void;
}

interface LogFileOptions {
  folder: string;
  /** A line that would exceed this starts a new file; 8 MiB by default. */
  bytesMax?: number;
}

const defaultBytesMax = 8 * 1024 * 1024;

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants;
/** A named pipe without a reader would otherwise block the process. */
const appending = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;

/**
 * The log in the data folder: `gateway.log`, rotated to numbered files; the oldest is deleted. Lines are written
 * synchronously, so that none is lost in a crash.
 */
export function openLogFile({ folder, bytesMax = defaultBytesMax }: LogFileOptions): LogFile {
  const paths = logFiles(folder);
  const [newest = ''] = paths;
  let handle: number | undefined;
  let bytes = 0;
  const open = () => {
    handle = openSync(newest, appending, 0o600);
    bytes = fstatSync(handle).size;
  };
  const close = () => {
    const open = handle;
    handle = undefined;
    try {
      if (open !== undefined) closeSync(open);
    } catch {
      // The disk failed.
    }
  };
  const rotate = () => {
    close();
    for (let at = paths.length - 1; at > 0; at -= 1) move(paths[at - 1] as string, paths[at] as string);
  };
  return {
    write(line) {
      try {
        // Opened on the first line.
        if (handle === undefined) open();
        if (bytes > 0 && bytes + Buffer.byteLength(line) > bytesMax) {
          rotate();
          open();
        }
        bytes += writeSync(handle as number, line);
      } catch {
        // The disk is full or the folder is gone; the next line tries again.
        close();
      }
    },
    close,
  };
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
