import { lstatSync, type Stats, statSync } from 'node:fs';
import { DataFileUnusable } from '../engine/errors.ts';

/**
 * Fails with `DataFileUnusable` if something else than a file, or a link to one, is at the path. Call it before opening:
 * opening a named pipe waits for its other end, and a file that replaces a link hides what is missing.
 */
export function requireFile(path: string): void {
  requireKind('file', path);
}

/** Like `requireFile`, for a folder. */
export function requireFolder(path: string): void {
  requireKind('folder', path);
}

function requireKind(wanted: 'file' | 'folder', path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const kind = found.isSymbolicLink() ? kindOfTarget(path) : kindOf(found);
  if (kind === undefined) {
    throw new DataFileUnusable(
      path,
      'is a link that leads nowhere',
      'If a disk is missing, mount it; otherwise delete the link.',
    );
  }
  if (kind !== wanted) throw new DataFileUnusable(path, `is a ${kind}, not a ${wanted}`);
}

function kindOfTarget(path: string): string | undefined {
  try {
    return kindOf(statSync(path));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}

function kindOf(found: Stats): string {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'folder';
  if (found.isFIFO()) return 'named pipe';
  return found.isSocket() ? 'socket' : 'device';
}
