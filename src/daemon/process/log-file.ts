import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { logFiles } from '../../shared/folders.ts';

export interface LogFile {
  /** One whole line with its end. Never throws: a log that cannot be written stops nobody. */
  write(line: string): void;
  close(): void;
}

interface LogFileOptions {
  folder: string;
  /** Once a file is larger, the next line begins another; 8 MiB unless told. */
  bytesMax?: number;
}

const usualBytesMax = 8 * 1024 * 1024;

/**
 * The log in the data folder: `gateway.log`, and the older ones under numbers that rise with their age; the oldest goes.
 * Lines are written as they come, so that those before a crash are there.
 */
export function openLogFile({ folder, bytesMax = usualBytesMax }: LogFileOptions): LogFile {
  const paths = logFiles(folder);
  const [newest = ''] = paths;
  let handle: number | undefined;
  let bytes = 0;
  const open = () => {
    handle = openSync(newest, 'a', 0o600);
    bytes = fstatSync(handle).size;
  };
  const close = () => {
    if (handle !== undefined) closeSync(handle);
    handle = undefined;
  };
  const rotate = () => {
    close();
    for (let at = paths.length - 1; at > 0; at -= 1) move(paths[at - 1] as string, paths[at] as string);
  };
  return {
    write(line) {
      try {
        // Opened by the first line: most starts log none.
        if (handle === undefined) open();
        if (bytes > 0 && bytes + Buffer.byteLength(line) > bytesMax) {
          rotate();
          open();
        }
        bytes += writeSync(handle as number, line);
      } catch {
        // The disk is full, or the folder is gone; the next line tries again.
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
