import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { BackupOrder, BackupProgress, BackupRecord } from '../../../features/backups/backup-store.ts';
import { type Connection, openForReading } from '../engine/connection.ts';
import { syncPath } from '../engine/database-file.ts';
import { schemaVersion } from '../engine/migrate.ts';
import { addUp, problemsOf } from '../ledger/sums.ts';
import { contentDigest, filesTable, infoTable, pagesAndReferences } from './content-digest.ts';

export interface BackupTask extends BackupOrder {
  /** The file to make; it must not be there. */
  to: string;
}

/** Small enough that other threads come in between, large enough to be fast. */
const pagesAtOnce = 512;

/** Written under another name, checked, and renamed: a file of a backup's own name is whole. */
export async function backUp(
  source: string,
  task: BackupTask,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupRecord> {
  const partial = partialOf(task.to);
  requireRoom(source, dirname(task.to));
  closeSync(openSync(partial, 'wx', 0o600));
  try {
    await copyPages(source, partial, onProgress);
    const totalBytes = statSync(partial).size;
    onProgress({ doneBytes: totalBytes, totalBytes });
    const record = complete(partial, task);
    verify(partial, record.digest);
    syncPath(partial);
    renameSync(partial, task.to);
    syncPath(dirname(task.to));
    return { ...record, file: task.to, bytes: statSync(task.to).size };
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

export function partialOf(file: string): string {
  return `${file}.partial`;
}

function requireRoom(source: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const neededBytes = statSync(source).size;
  if (bavail * bsize > neededBytes * 1.1) return;
  throw new Error(`the disk has no room for ${neededBytes} bytes in ${folder}`);
}

async function copyPages(source: string, to: string, onProgress: (progress: BackupProgress) => void) {
  const database = openForReading(source);
  try {
    // One state of the data: without it, SQLite begins anew whenever somebody writes.
    database.exec('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    const pageBytes = Number(database.pragma('page_size', { simple: true }));
    await database.backup(to, {
      progress({ totalPages, remainingPages }) {
        onProgress({
          doneBytes: (totalPages - remainingPages) * pageBytes,
          totalBytes: totalPages * pageBytes,
        });
        return pagesAtOnce;
      },
    });
  } finally {
    database.close();
  }
}

/** Makes the copy a file on its own, and puts in what belongs to it. */
function complete(file: string, { at, files, version }: BackupTask) {
  const database = new Database(file, { fileMustExist: true });
  try {
    database.pragma('journal_mode = DELETE');
    database.pragma('synchronous = FULL');
    database.exec(`CREATE TABLE ${infoTable} (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`);
    database.exec(`CREATE TABLE ${filesTable} (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT`);
    const putFile = database.prepare(`INSERT INTO ${filesTable} (name, content) VALUES (?, ?)`);
    for (const { name, content } of files) putFile.run(name, Buffer.from(content));
    const digest = contentDigest(database);
    const put = database.prepare(`INSERT INTO ${infoTable} (name, value) VALUES (?, ?)`);
    for (const row of Object.entries({ made_at: String(at), version, digest })) put.run(...row);
    return { digest, schemaVersion: schemaVersion(database), masters: mastersIn(database) };
  } finally {
    database.close();
  }
}

/** Reads all of it again, as a restore will. */
function verify(file: string, digest: string): void {
  const database = new Database(file, { readonly: true });
  try {
    const problems = [...pagesAndReferences(database), ...problemsOf(addUp(database))];
    if (contentDigest(database) !== digest) problems.push('what was written is not what is read');
    if (problems.length > 0) throw new Error(`the copy is not whole: ${problems.join('; ')}`);
  } finally {
    database.close();
  }
}

/** The master keys that secrets in the database are sealed under. */
export function mastersIn(database: Connection): { keyId: string; store: string }[] {
  const hasVault = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vault_secrets'").get();
  if (hasVault === undefined) return [];
  return database
    .prepare<[], { keyId: string; store: string }>(
      `SELECT kid AS keyId, store FROM vault_masters
       WHERE kid IN (SELECT kid FROM vault_secrets) ORDER BY created_at`,
    )
    .all();
}
