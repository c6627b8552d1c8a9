import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { BackupOrder, BackupProgress, BackupRecord } from '../../../features/backups/backup-store.ts';
import { type Connection, openForReading } from '../engine/connection.ts';
import { fsyncPath } from '../engine/database-file.ts';
import { pageProblems, referenceProblems } from '../engine/integrity.ts';
import { schemaVersion } from '../engine/migrate.ts';
import { balanceProblems, checkBalances } from '../metering/ledger/check-balances.ts';
import { addContent, contentSuffix } from './backup-content.ts';
import { contentDigest, filesTable, infoTable } from './content-digest.ts';

export interface BackupTask extends BackupOrder {
  /** The path of the backup; must not exist. */
  to: string;
  /** The file with the content of calls, which may be missing; undefined to leave it out. */
  content: string | undefined;
}

/** Small enough that other threads can write in between, large enough to be fast. */
const pagesPerStep = 512;

/** Backs up the database of a file. */
export async function backUp(
  source: string,
  task: BackupTask,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupRecord> {
  requireFreeSpace(statSync(source).size, dirname(task.to));
  return await writeBackup(task, onProgress, async (partial) => {
    closeSync(openSync(partial, 'wx', 0o600));
    await copyPages(source, partial, onProgress);
  });
}

/** Writes the backup to a partial file, a database that `fill` creates, which is completed, verified and renamed. */
export async function writeBackup(
  task: BackupTask,
  onProgress: (progress: BackupProgress) => void,
  fill: (partial: string) => Promise<void>,
): Promise<BackupRecord> {
  const partial = partialFile(task.to);
  try {
    await fill(partial);
    const contentBytes = task.content === undefined ? null : await addContent(partial, task.content);
    const totalBytes = statSync(partial).size;
    onProgress({ doneBytes: totalBytes, totalBytes });
    const record = finishCopy(partial, task);
    verify(partial, record.digest);
    fsyncPath(partial);
    renameSync(partial, task.to);
    fsyncPath(dirname(task.to));
    return { ...record, file: task.to, bytes: statSync(task.to).size, contentBytes };
  } catch (error) {
    removePartial(task.to);
    throw error;
  }
}

function partialFile(file: string): string {
  return `${file}.partial`;
}

/** Removes what an unfinished backup has left. */
export function removePartial(file: string): void {
  for (const suffix of ['', '-journal', '.new', '.new-journal', contentSuffix])
    rmSync(partialFile(file) + suffix, { force: true });
}

/** Throws unless the disk of the folder has room for a backup of that size, and some more. */
export function requireFreeSpace(neededBytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > neededBytes * 1.1) return;
  throw new Error(`not enough disk space for ${neededBytes} bytes in ${folder}`);
}

async function copyPages(source: string, to: string, onProgress: (progress: BackupProgress) => void) {
  const database = openForReading(source);
  try {
    // Holds one snapshot; otherwise SQLite restarts the backup after each write.
    database.exec('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    const pageBytes = Number(database.pragma('page_size', { simple: true }));
    await database.backup(to, {
      progress({ totalPages, remainingPages }) {
        onProgress({
          doneBytes: (totalPages - remainingPages) * pageBytes,
          totalBytes: totalPages * pageBytes,
        });
        return pagesPerStep;
      },
    });
  } finally {
    database.close();
  }
}

/** Turns the copy into a single file, and adds the files and facts that belong to a backup. */
function finishCopy(file: string, { at, files, version }: BackupTask) {
  const database = new Database(file, { fileMustExist: true });
  try {
    database.pragma('journal_mode = DELETE');
    database.pragma('synchronous = FULL');
    database.exec(`CREATE TABLE ${infoTable} (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`);
    database.exec(`CREATE TABLE ${filesTable} (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT`);
    const insertFile = database.prepare(`INSERT INTO ${filesTable} (name, content) VALUES (?, ?)`);
    for (const { name, content } of files) insertFile.run(name, Buffer.from(content));
    const digest = contentDigest(database);
    const insertInfo = database.prepare(`INSERT INTO ${infoTable} (name, value) VALUES (?, ?)`);
    for (const row of Object.entries({ made_at: String(at), version, digest })) insertInfo.run(...row);
    return { digest, schemaVersion: schemaVersion(database), masters: mastersIn(database) };
  } finally {
    database.close();
  }
}

/** Reads the whole copy again, as a restore does. */
function verify(file: string, digest: string): void {
  const database = new Database(file, { readonly: true });
  try {
    const problems = copyProblems(database);
    if (contentDigest(database) !== digest) problems.push('its content differs from what was written');
    if (problems.length > 0) throw new Error(`the copy is damaged: ${problems.join('; ')}`);
  } finally {
    database.close();
  }
}

/** Problems of a copy of any schema version. */
export function copyProblems(database: Connection): string[] {
  return [
    ...pageProblems(database, 'integrity_check'),
    ...referenceProblems(database),
    ...balanceProblems(checkBalances(database)),
  ];
}

/** The master keys under which the secrets in the database are sealed. */
export function mastersIn(database: Connection): { keyId: string; store: string }[] {
  return database
    .prepare<[], { keyId: string; store: string }>(
      `SELECT kid AS keyId, store FROM vault_masters
       WHERE kid IN (SELECT kid FROM vault_secrets) ORDER BY created_at`,
    )
    .all();
}
