import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isoTime } from '../../../../shared/time.ts';
import type { Connection } from '../engine/connection.ts';
import { checkHeader, syncPath } from '../engine/database-file.ts';
import { BackupUnusable, DataNeedsRepair, isDamage } from '../engine/errors.ts';
import { writeMeta } from '../engine/meta.ts';
import { schemaVersion } from '../engine/migrate.ts';
import { migrations } from '../engine/migrations/index.ts';
import { lockFolder } from '../guard/folder-lock.ts';
import { addUp, problemsOf } from '../ledger/sums.ts';
import { mastersIn } from './back-up.ts';
import { contentDigest, filesTable, infoTable, pagesAndReferences } from './content-digest.ts';
import { copyFollowed } from './copy-followed.ts';
import { finishRestore, planFile, restoreFolders } from './finish-restore.ts';
import { backupsFolder } from './store.ts';

export interface RestoreTask {
  /** The data folder, which is there. */
  folder: string;
  backup: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Names of files that a backup may bring into the data folder. */
  fileNames: readonly string[];
  onProgress: (progress: { step: 'copying' | 'checking'; doneBytes: number; totalBytes: number }) => void;
}

export interface Restored {
  /** When the backup was made; undefined of a plain copy of a database. */
  madeAt: number | undefined;
  schemaVersion: number;
  /** Where the data lies that was there before; undefined where there was none. */
  aside: string | undefined;
  /** Files of the backup that do not belong into the data folder. */
  others: ReadonlyMap<string, Buffer>;
  masters: { keyId: string; store: string }[];
}

/**
 * Puts a backup in the place of the data. Everything is checked in a copy first; then one rename decides, and what is
 * left of the work is finished by the next start, whenever this process dies.
 * Throws `DataFolderInUse`, or `BackupUnusable` with the data as it was.
 */
export function restoreBackup(task: RestoreTask): Restored {
  const { folder, backup, at } = task;
  const lock = lockFolder(folder);
  try {
    finishRestore(folder);
    const { partial, ready } = restoreFolders(folder);
    mkdirSync(partial, { mode: 0o700 });
    const copy = join(partial, 'gateway.db');
    refuseLooseCopy(backup);
    copyFollowed(backup, copy, (progress) => task.onProgress({ step: 'copying', ...progress }));
    const unpacked = unpack(copy, task);
    const aside = existsSync(join(folder, 'gateway.db'))
      ? join(backupsFolder, `replaced-${isoTime(at).replaceAll(':', '-')}`)
      : undefined;
    writeFileSync(join(partial, planFile), JSON.stringify({ aside: aside ?? null }), { flush: true });
    syncPath(partial);
    renameSync(partial, ready);
    syncPath(folder);
    finishRestore(folder);
    return { ...unpacked, aside: aside && join(folder, aside) };
  } catch (error) {
    rmSync(restoreFolders(folder).partial, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/** A copy of the database without its write-ahead log has lost what was in there. */
function refuseLooseCopy(backup: string): void {
  if (!existsSync(`${backup}-wal`)) return;
  throw new BackupUnusable(backup, 'it has a write-ahead log beside it, so it is in use and no backup');
}

function unpack(copy: string, { backup, fileNames, onProgress }: RestoreTask) {
  try {
    checkHeader(copy);
    const database = new Database(copy, { fileMustExist: true });
    try {
      database.pragma('trusted_schema = OFF');
      const totalBytes = Number(database.pragma('page_count', { simple: true })) * 4096;
      onProgress({ step: 'checking', doneBytes: 0, totalBytes });
      const info = infoOf(database);
      check(database, backup, info);
      onProgress({ step: 'checking', doneBytes: totalBytes, totalBytes });
      const files = filesOf(database);
      const others = new Map([...files].filter(([name]) => !fileNames.includes(name)));
      for (const [name, content] of files) {
        if (!fileNames.includes(name)) continue;
        writeFileSync(join(copy, '..', name), content, { mode: 0o600, flag: 'wx', flush: true });
      }
      makeDatabase(database);
      const madeAt = info.has('made_at') ? Number(info.get('made_at')) : undefined;
      return { madeAt, schemaVersion: schemaVersion(database), others, masters: mastersIn(database) };
    } finally {
      database.close();
      syncPath(copy);
    }
  } catch (error) {
    if (error instanceof DataNeedsRepair) throw new BackupUnusable(backup, error.problem, { cause: error });
    if (isDamage(error)) throw new BackupUnusable(backup, (error as Error).message, { cause: error });
    throw error;
  }
}

function check(database: Connection, backup: string, info: ReadonlyMap<string, string>): void {
  const refuse = (problem: string) => new BackupUnusable(backup, problem);
  // A copy of a database in use begins so; a backup is a file on its own.
  if (info.size === 0 && database.pragma('journal_mode', { simple: true }) === 'wal') {
    throw refuse('it is a copy of a database without its write-ahead log, and no backup');
  }
  const found = schemaVersion(database);
  const known = migrations.at(-1)?.version ?? 0;
  if (found > known) {
    throw refuse(`a newer program made it (schema version ${found}; this one knows ${known})`);
  }
  const problems = [...pagesAndReferences(database), ...problemsOf(addUp(database))];
  const digest = info.get('digest');
  if (digest !== undefined && contentDigest(database) !== digest) {
    problems.push('it is not what was written when it was made');
  }
  if (problems.length > 0) throw refuse(`it is damaged: ${problems.join('; ')}`);
}

function hasTable(database: Connection, name: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
}

function infoOf(database: Connection): ReadonlyMap<string, string> {
  if (!hasTable(database, infoTable)) return new Map();
  const rows = database.prepare<[], [string, string]>(`SELECT name, value FROM ${infoTable}`).raw().all();
  return new Map(rows);
}

function filesOf(database: Connection): Map<string, Buffer> {
  if (!hasTable(database, filesTable)) return new Map();
  const rows = database.prepare<[], [string, Buffer]>(`SELECT name, content FROM ${filesTable}`).raw().all();
  return new Map(rows);
}

/** Turns the copy into a database like any other; no page of it keeps what the files held. */
function makeDatabase(database: Connection): void {
  database.pragma('synchronous = FULL');
  database.pragma('secure_delete = ON');
  database.exec(`DROP TABLE IF EXISTS ${filesTable}; DROP TABLE IF EXISTS ${infoTable}`);
  // The next start adds up every entry.
  writeMeta(database, 'clean_shutdown', 0);
}
