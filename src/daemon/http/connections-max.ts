import { readFileSync } from 'node:fs';

/** Each streamed call may need a second descriptor for its provider, and some stay free for files. */
export function connectionsMaxFor(openFilesMax: number): number {
  return Math.max(16, Math.floor((openFilesMax - 256) / 2));
}

/** How many files this process may have open; undefined where the system does not tell it in a file. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
