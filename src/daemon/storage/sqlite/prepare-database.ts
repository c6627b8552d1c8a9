import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isoTime } from '../../../shared/time.ts';
import type { Log } from '../../log.ts';
import { commitCountFile, requireAllCommits } from './engine/commit-count.ts';
import { type Connection, openForWriting } from './engine/connection.ts';
import { checkHeader, createIfMissing, fsyncPath } from './engine/database-file.ts';
import { DataNeedsRepair, isDamage } from './engine/errors.ts';
import { readMeta, removeMeta, writeMeta } from './engine/meta.ts';
import { type Migration, migrate, needsMigration, schemaVersion } from './engine/migrate.ts';
import { walDamage } from './engine/wal-damage.ts';
import { expireCredentials } from './expire-credentials.ts';
import { requireFile } from './guard/file-kind.ts';
import { balanceProblems, balanceTotals, checkBalances } from './metering/check-balances.ts';
import { matchesCheckpoint, writeCheckpoint } from './metering/checkpoint.ts';
import { openAfterRestore } from './wallet/reconciliation-writes.ts';

interface PrepareOptions {
  file: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  log: Log;
  migrations: readonly Migration[];
}

/**
 * Creates the database, or checks its balances and migrates it, and marks it as open. Throws `UnsupportedSchema`,
 * `DataNeedsRepair` or `DataFileUnusable` and then leaves the file unchanged.
 */
export function prepareDatabase(options: PrepareOptions): void {
  const { file, migrations, now } = options;
  for (const path of [file, `${file}-wal`, `${file}-shm`, commitCountFile(file)]) requireFile(path);
  createIfMissing(file, migrations, now());
  checkHeader(file);
  const damage = walDamage(file);
  if (damage !== undefined) throw new DataNeedsRepair(file, damage);
  chmodSync(file, 0o600);
  let database: Connection | undefined;
  try {
    database = openForWriting(file);
    const isOld = needsMigration(database, migrations);
    requireAllCommits(database);
    // Before a migration, so that existing damage is found in the unchanged file.
    requireSoundBalances(database, isOld);
    requireMasterKeys(database);
    if (isOld) migrateWithBackup(database, options);
    markOpen(database, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new DataNeedsRepair(file, (error as Error).message, { cause: error });
  } finally {
    database?.close();
  }
}

function migrateWithBackup(database: Connection, options: PrepareOptions): void {
  const { log, migrations } = options;
  const backup = copyBeforeMigration(database, options);
  log.info(
    { from: schemaVersion(database), to: migrations.at(-1)?.version, backup },
    'migrating the database',
  );
  migrate(database, migrations);
}

/** Writes to a partial file that is renamed when complete. Returns the path of the copy. */
function copyBeforeMigration(database: Connection, { file, now }: PrepareOptions): string {
  const folder = join(dirname(file), 'backups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${basename(file, '.db')}-v${schemaVersion(database)}`;
  const partial = join(folder, `${name}.partial`);
  const copy = join(folder, `${name}-${isoTime(now()).replaceAll(':', '-')}.db`);
  const removePartial = () => {
    for (const suffix of ['', '-journal']) rmSync(partial + suffix, { force: true });
  };
  // Left by a start that was killed here.
  removePartial();
  try {
    // Unlike a file copy, this includes the write-ahead log.
    database.prepare('VACUUM INTO ?').run(partial);
  } catch (error) {
    removePartial();
    throw error;
  }
  chmodSync(partial, 0o600);
  fsyncPath(partial);
  renameSync(partial, copy);
  fsyncPath(folder);
  return copy;
}

/**
 * Compares the balances with the checkpoint and the entries after it; if they differ, all entries are added up before anything
 * is written. Versions without a checkpoint trust the balances after a clean shutdown.
 */
function requireSoundBalances(database: Connection, isOld: boolean): void {
  const totals = balanceTotals(database);
  const isSound = isOld ? readMeta(database, 'clean_shutdown') === 1 : matchesCheckpoint(database);
  const problems = balanceProblems(isSound ? { wrong: [], totals } : checkBalances(database));
  if (problems.length > 0) throw new DataNeedsRepair(database.name, problems.join('; '));
}

/** Secrets sealed under an unknown master key were tampered with, or come from a partial restore. */
function requireMasterKeys(database: Connection): void {
  const lost = database
    .prepare<[], number>(
      'SELECT count(*) FROM vault_secrets WHERE kid NOT IN (SELECT kid FROM vault_masters)',
    )
    .pluck()
    .get();
  if (!lost) return;
  throw new DataNeedsRepair(database.name, `the master key of ${lost} sealed secrets is missing`);
}

function markOpen(database: Connection, { now, log }: PrepareOptions): void {
  const at = now();
  const lastSeen = readMeta(database, 'last_seen') ?? 0;
  if (at < lastSeen - 5000)
    log.warn({ now: isoTime(at), last_seen: isoTime(lastSeen) }, 'the system clock went back');
  database.transaction(() => {
    if (at < lastSeen) expireCredentials(database, { at, seen: lastSeen });
    const restoredTo = readMeta(database, 'restored_to');
    if (restoredTo !== undefined) {
      database.prepare(openAfterRestore).run({ since: restoredTo, at });
      removeMeta(database, 'restored_to');
    }
    if (readMeta(database, 'clean_shutdown') !== 1) writeMeta(database, 'needs_check', 1);
    writeCheckpoint(database);
    writeMeta(database, 'clean_shutdown', 0);
    writeMeta(database, 'last_seen', at);
  })();
}
