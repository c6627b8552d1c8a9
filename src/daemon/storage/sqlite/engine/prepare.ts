import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isoTime } from '../../../../shared/time.ts';
import { addUp, balancesTotal, problemsOf } from '../ledger/sums.ts';
import { type Connection, openForWriting } from './connection.ts';
import { checkHeader, createIfMissing, syncPath } from './database-file.ts';
import { DataNeedsRepair, isDamage } from './errors.ts';
import type { StorageLog } from './log.ts';
import { readMeta, writeMeta } from './meta.ts';
import { type Migration, migrate, needsMigration, schemaVersion } from './migrate.ts';

interface Preparation {
  file: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  log: StorageLog;
  migrations: readonly Migration[];
}

/**
 * All that happens to the database before anyone writes: it is made, or its sums are checked and it is migrated,
 * and it is marked as open. Throws `DataIsNewer` or `DataNeedsRepair` and then leaves the file as it was.
 */
export function prepareDatabase(preparation: Preparation): void {
  const { file, migrations } = preparation;
  createIfMissing(file, migrations);
  checkHeader(file);
  chmodSync(file, 0o600);
  let database: Connection | undefined;
  try {
    database = openForWriting(file);
    const isOld = needsMigration(database, migrations);
    // Before a migration, so that what was wrong already is found in the file as it was.
    checkSums(database);
    checkMasters(database);
    if (isOld) migrateWithBackup(database, preparation);
    markOpen(database, preparation);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new DataNeedsRepair(file, (error as Error).message, { cause: error });
  } finally {
    database?.close();
  }
}

function migrateWithBackup(database: Connection, preparation: Preparation): void {
  const { log, migrations } = preparation;
  const backup = copyBeforeMigration(database, preparation);
  log.info(
    { from: schemaVersion(database), to: migrations.at(-1)?.version, backup },
    'migrating the database',
  );
  migrate(database, migrations);
}

/** Written under another name and renamed: whatever has the name of a copy is whole. Returns where it lies. */
function copyBeforeMigration(database: Connection, { file, now }: Preparation): string {
  const folder = join(dirname(file), 'backups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${basename(file, '.db')}-v${schemaVersion(database)}`;
  const partial = join(folder, `${name}.partial`);
  const copy = join(folder, `${name}-${isoTime(now()).replaceAll(':', '-')}.db`);
  const removePartial = () => {
    for (const ending of ['', '-journal']) rmSync(partial + ending, { force: true });
  };
  // What a start left that was killed here.
  removePartial();
  try {
    // Unlike copying the file, this takes along what is still in the write-ahead log.
    database.prepare('VACUUM INTO ?').run(partial);
  } catch (error) {
    removePartial();
    throw error;
  }
  chmodSync(partial, 0o600);
  syncPath(partial);
  renameSync(partial, copy);
  syncPath(folder);
  return copy;
}

/** After an orderly end the stored balances are enough; otherwise every entry is added up before anything is written. */
function checkSums(database: Connection): void {
  const wasClosed = readMeta(database, 'clean_shutdown') === 1;
  const sums = wasClosed ? { wrong: [], total: balancesTotal(database) } : addUp(database);
  const problems = problemsOf(sums);
  if (problems.length > 0) throw new DataNeedsRepair(database.name, problems.join('; '));
}

/** Secrets whose master is not known were put there by somebody else, or are half of a restored backup. */
function checkMasters(database: Connection): void {
  const hasVault = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vault_secrets'").get();
  if (hasVault === undefined) return;
  const lost = database
    .prepare<[], number>(
      'SELECT count(*) FROM vault_secrets WHERE kid NOT IN (SELECT kid FROM vault_masters)',
    )
    .pluck()
    .get();
  if (!lost) return;
  throw new DataNeedsRepair(database.name, `it has ${lost} sealed secrets and not their master key`);
}

function markOpen(database: Connection, { now, log }: Preparation): void {
  const at = now();
  const lastSeen = readMeta(database, 'last_seen') ?? 0;
  if (at < lastSeen - 5000)
    log.warn({ now: isoTime(at), last_seen: isoTime(lastSeen) }, 'the clock went back');
  database.transaction(() => {
    writeMeta(database, 'clean_shutdown', 0);
    writeMeta(database, 'last_seen', Math.max(at, lastSeen));
  })();
}
