import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { BackupOrder, BackupProgress, BackupRecord } from '../../../features/backups/backup-store.ts';
import { type Connection, openForReading } from '../engine/connection.ts';
import { fsyncPath } from '../engine/database-file.ts';
import { pageProblems, referenceProblems } from '../engine/integrity.ts';
import { schemaVersion } from '../engine/migrate.ts';
import { balanceProblems, checkBalances } from '../metering/check-balances.ts';
import { contentDigest, filesTable, infoTable } from './content-digest.ts';

export interface BackupTask extends BackupOrder {
  /** The path of the backup; must not exist. */
  to: string;
}

/** Small enough that other threads can write in between, large enough to be fast. */
const pagesPerStep = 512;

/** Writes the backup to a partial file, which is verified and then renamed. */
export async function backUp(
  source: string,
  task: BackupTask,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupRecord> {
  const partial = partialFile(task.to);
  requireFreeSpace(source, dirname(task.to));
  closeSync(openSync(partial, 'wx', 0o600));
  try {
    await copyPages(source, partial, onProgress);
    const totalBytes = statSync(partial).size;
    onProgress({ doneBytes: totalBytes, totalBytes });
    const record = finishCopy(partial, task);
    verify(partial, record.digest);
    fsyncPath(partial);
    renameSync(partial, task.to);
    fsyncPath(dirname(task.to));
    return { ...record, file: task.to, bytes: statSync(task.to).size };
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

export function partialFile(file: string): string {
  return `${file}.partial`;
}

function requireFreeSpace(source: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const neededBytes = statSync(source).size;
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
