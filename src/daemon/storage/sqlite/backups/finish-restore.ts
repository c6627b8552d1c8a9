import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from '../engine/database-file.ts';

/** Tells where the old data goes. */
export const planFile = 'plan.json';

/**
 * The states of a restore, each a folder in the data folder, reached by one rename: `partial` is being made and may be
 * thrown away; from `ready` on the restore holds, and the old files go aside; in `moving` the new ones take their place.
 */
export function restoreFolders(folder: string) {
  return {
    partial: join(folder, 'restore.partial'),
    ready: join(folder, 'restore.ready'),
    moving: join(folder, 'restore.moving'),
  };
}

/**
 * Finishes what a restore left that was cut short, or throws it away where it had not been decided. Every step may be
 * done again. To be called before the database is opened, by whoever holds the folder's lock.
 */
export function finishRestore(folder: string): void {
  const { partial, ready, moving } = restoreFolders(folder);
  rmSync(partial, { recursive: true, force: true });
  if (existsSync(ready)) {
    putAside(folder, ready);
    renameSync(ready, moving);
    syncPath(folder);
  }
  if (!existsSync(moving)) return;
  for (const name of readdirSync(moving)) {
    if (name !== planFile) renameSync(join(moving, name), join(folder, name));
  }
  syncPath(folder);
  rmSync(moving, { recursive: true });
}

/** The old database with its log, and each file that the backup has another of. */
function putAside(folder: string, ready: string): void {
  const { aside } = JSON.parse(readFileSync(join(ready, planFile), 'utf8')) as { aside: string | null };
  const replaced = readdirSync(ready).filter((name) => name !== planFile);
  const names = [...replaced, 'gateway.db-wal', 'gateway.db-shm'].filter((name) =>
    existsSync(join(folder, name)),
  );
  if (names.length === 0) return;
  const target = join(folder, aside ?? join('backups', 'replaced'));
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const name of names) renameSync(join(folder, name), join(target, name));
  syncPath(target);
}
