import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { contentFile } from '../../../../shared/folders.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import type { Connection } from '../engine/connection.ts';
import { checkHeader, fsyncPath } from '../engine/database-file.ts';
import { BackupUnusable, DataNeedsRepair, isDamage } from '../engine/errors.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';
import { schemaVersion, supportedVersions } from '../engine/migrate.ts';
import { migrations } from '../engine/migrations/index.ts';
import { lockFolder } from '../guard/folder-lock.ts';
import { copyProblems, mastersIn } from './back-up.ts';
import { extractContent } from './backup-content.ts';
import { contentDigest, contentTable, filesTable, infoTable } from './content-digest.ts';
import { finishRestore, planFile, restoreFolders } from './finish-restore.ts';
import { backupsFolder } from './store.ts';

export interface RestoreTask {
  /** The data folder, which exists. */
  folder: string;
  backup: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Files of a backup that may be restored into the data folder. */
  fileNames: readonly string[];
  onProgress: (progress: { step: 'copying' | 'checking'; doneBytes: number; totalBytes: number }) => void;
}

export interface Restored {
  /** When the backup was made, in milliseconds since 1970; undefined for a plain copy of a database. */
  madeAt: number | undefined;
  schemaVersion: number;
  /** The folder with the replaced data; undefined if there was none. */
  aside: string | undefined;
  /** Files of the backup that do not belong in the data folder. */
  others: ReadonlyMap<string, Buffer>;
  masters: { keyId: string; store: string }[];
  /** Whether there are wallets of a Lightning node, which are to be compared with it. */
  hasNodeWallets: boolean;
}

/**
 * Replaces the data with a backup. A copy is verified first, then committed by one rename; if the process dies after
 * that, the next start completes the restore. Throws `DataFolderInUse`, or `BackupUnusable` with the data unchanged.
 */
export function restoreBackup(task: RestoreTask): Restored {
  const { folder, backup, at } = task;
  const lock = lockFolder(folder);
  try {
    finishRestore(folder);
    const { partial, ready } = restoreFolders(folder);
    mkdirSync(partial, { mode: 0o700 });
    const copy = join(partial, 'gateway.db');
    refuseDatabaseInUse(backup);
    copyWithProgress(backup, copy, (progress) => task.onProgress({ step: 'copying', ...progress }));
    const unpacked = unpack(copy, task);
    const aside = existsSync(join(folder, 'gateway.db'))
      ? join(backupsFolder, `replaced-${isoTime(at).replaceAll(':', '-')}`)
      : undefined;
    writeFileSync(join(partial, planFile), JSON.stringify({ aside: aside ?? null }), { flush: true });
    fsyncPath(partial);
    renameSync(partial, ready);
    fsyncPath(folder);
    finishRestore(folder);
    return { ...unpacked, aside: aside && join(folder, aside) };
  } catch (error) {
    rmSync(restoreFolders(folder).partial, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/** A database in use has recent writes only in its write-ahead log, which a copy of the file lacks. */
function refuseDatabaseInUse(backup: string): void {
  if (!existsSync(`${backup}-wal`)) return;
  throw new BackupUnusable(backup, 'it has a write-ahead log, so it is a database in use and not a backup');
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
      extractContent(database, contentFile(join(copy, '..')));
      const files = filesOf(database);
      const others = new Map([...files].filter(([name]) => !fileNames.includes(name)));
      for (const [name, content] of files) {
        if (!fileNames.includes(name)) continue;
        writeFileSync(join(copy, '..', name), content, { mode: 0o600, flag: 'wx', flush: true });
      }
      removeBackupTables(database);
      const madeAt = info.has('made_at') ? Number(info.get('made_at')) : undefined;
      // A plain copy is not older than the last start before it.
      writeMeta(database, 'restored_to', madeAt ?? readMeta(database, 'last_seen') ?? 0);
      return {
        madeAt,
        schemaVersion: schemaVersion(database),
        others,
        masters: mastersIn(database),
        hasNodeWallets: hasNodeWallets(database),
      };
    } finally {
      database.close();
      fsyncPath(copy);
    }
  } catch (error) {
    if (error instanceof DataNeedsRepair) throw new BackupUnusable(backup, error.problem, { cause: error });
    if (isDamage(error)) throw new BackupUnusable(backup, (error as Error).message, { cause: error });
    throw error;
  }
}

function check(database: Connection, backup: string, info: ReadonlyMap<string, string>): void {
  const refuse = (problem: string) => new BackupUnusable(backup, problem);
  // The file of a database in use is in WAL mode; a backup is not.
  if (info.size === 0 && database.pragma('journal_mode', { simple: true }) === 'wal') {
    throw refuse('it is a copy of a database without its write-ahead log, not a backup');
  }
  const found = schemaVersion(database);
  const { oldest, newest } = supportedVersions(migrations);
  if (found < oldest || found > newest) {
    const age = found > newest ? 'newer' : 'development';
    throw refuse(`it was made by a ${age} version with schema version ${found}`);
  }
  const problems = copyProblems(database);
  const digest = info.get('digest');
  if (digest !== undefined && contentDigest(database) !== digest) {
    problems.push('its content differs from what was backed up');
  }
  if (problems.length > 0) throw refuse(`it is damaged: ${problems.join('; ')}`);
}

function hasTable(database: Connection, name: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
}

function hasNodeWallets(database: Connection): boolean {
  const found = database.prepare("SELECT 1 FROM wallets WHERE backend <> 'embedded' LIMIT 1").get();
  return found !== undefined;
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

/** Turns the copy into a normal database; no page keeps content of the files. */
function removeBackupTables(database: Connection): void {
  database.pragma('synchronous = FULL');
  database.pragma('secure_delete = ON');
  database.exec(`DROP TABLE IF EXISTS ${filesTable}; DROP TABLE IF EXISTS ${infoTable}`);
  if (hasTable(database, contentTable)) {
    // It is large, and sealed.
    database.pragma('secure_delete = OFF');
    database.exec(`DROP TABLE ${contentTable}; VACUUM`);
  }
  // Makes the next start add up all entries.
  writeMeta(database, 'clean_shutdown', 0);
}

const chunkBytes = 4 * 1024 * 1024;

interface CopyProgress {
  doneBytes: number;
  totalBytes: number;
}

/** Copies to a new file that only its owner can read. */
function copyWithProgress(from: string, to: string, onProgress: (progress: CopyProgress) => void): void {
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
