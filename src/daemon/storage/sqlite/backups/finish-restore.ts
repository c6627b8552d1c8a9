import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commitCountFile } from '../engine/commit-count.ts';
import { fsyncPath } from '../engine/database-file.ts';
import { DataFileUnusable } from '../engine/errors.ts';
import { requireFolder } from '../guard/file-kind.ts';

/** Names the folder for the replaced data. */
export const planFile = 'plan.json';

/**
 * The states of a restore, each a folder in the data folder reached by one rename: `partial` is incomplete and may be
 * deleted; from `ready` on the restore will complete, and the old files are moved away; in `moving` the new files are
 * moved in.
 */
export function restoreFolders(folder: string) {
  return {
    partial: join(folder, 'restore.partial'),
    ready: join(folder, 'restore.ready'),
    moving: join(folder, 'restore.moving'),
  };
}

/**
 * Completes an interrupted restore, or deletes one that was still partial. Each step can be repeated. Call it before
 * opening the database, while holding the folder lock.
 */
export function finishRestore(folder: string): void {
  const { partial, ready, moving } = restoreFolders(folder);
  for (const path of [ready, moving]) requireFolder(path);
  rmSync(partial, { recursive: true, force: true });
  if (existsSync(ready)) {
    moveOldFiles(folder, ready);
    renameSync(ready, moving);
    fsyncPath(folder);
  }
  if (!existsSync(moving)) return;
  for (const name of readdirSync(moving)) {
    if (name !== planFile) renameSync(join(moving, name), join(folder, name));
  }
  fsyncPath(folder);
  rmSync(moving, { recursive: true });
}

/** Moves the old database with its log, and each file that the backup replaces. */
function moveOldFiles(folder: string, ready: string): void {
  const { aside } = planIn(ready);
  const replaced = readdirSync(ready).filter((name) => name !== planFile);
  const logs = ['gateway.db', ...replaced].flatMap((name) => [`${name}-wal`, `${name}-shm`]);
  logs.push(commitCountFile('gateway.db'));
  const names = [...new Set([...replaced, ...logs])].filter((name) => existsSync(join(folder, name)));
  if (names.length === 0) return;
  const target = join(folder, aside ?? join('backups', 'replaced'));
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const name of names) renameSync(join(folder, name), join(target, name));
  fsyncPath(target);
}

function planIn(ready: string): { aside: string | null } {
  try {
    return JSON.parse(readFileSync(join(ready, planFile), 'utf8')) as { aside: string | null };
  } catch (error) {
    throw new DataFileUnusable(ready, 'is not an unfinished restore', undefined, { cause: error });
  }
}
