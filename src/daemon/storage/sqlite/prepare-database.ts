import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isoTime } from '../../../shared/time/time.ts';
import type { Log } from '../../base/log.ts';
import { commitCountFile, requireAllCommits } from './engine/commit-count.ts';
import { type Connection, openForWriting } from './engine/connection.ts';
import { checkHeader, createIfMissing, fsyncPath } from './engine/database-file.ts';
import { DataNeedsRepair, isDamage } from './engine/errors.ts';
import { type Migration, migrate, needsMigration, schemaVersion } from './engine/migrate.ts';
import { newestSchema } from './engine/migrations/newest-schema.ts';
import { walDamage } from './engine/wal-damage.ts';
import { requireFile } from './guard/file-kind.ts';
import { markOpen, requireFinishedCopy, requireMasterKeys, requireSoundBalances } from './mark-open.ts';

interface PrepareOptions {
  file: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  log: Log;
  migrations: readonly Migration[];
}

/**
 * Creates the database, or checks its balances and migrates it, and marks it as open. Returns a connection to close when others
 * are open: closing the last one empties the write-ahead log. Throws `UnsupportedSchema`, `DataNeedsRepair` or `DataFileUnusable`
 * and then leaves the file unchanged.
 */
export function prepareDatabase(options: PrepareOptions): Connection {
  const { file, migrations, now } = options;
  for (const path of [file, `${file}-wal`, `${file}-shm`, commitCountFile(file)]) requireFile(path);
  createIfMissing(file, newestSchema, now());
  checkHeader(file);
  const damage = walDamage(file);
  if (damage !== undefined) throw new DataNeedsRepair(file, damage);
  chmodSync(file, 0o600);
  let database: Connection | undefined;
  try {
    database = openForWriting(file);
    const isOld = needsMigration(database, migrations);
    requireFinishedCopy(database);
    requireAllCommits(database);
    // Before a migration, so that existing damage is found in the unchanged file.
    requireSoundBalances(database, isOld);
    requireMasterKeys(database);
    if (isOld) migrateWithBackup(database, options);
    warnOfClock(options, markOpen(database, now()));
    return database;
  } catch (error) {
    database?.close();
    if (!isDamage(error)) throw error;
    throw new DataNeedsRepair(file, (error as Error).message, { cause: error });
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

/** Warns of a clock that shows an earlier time than the database has seen. */
function warnOfClock(
  { now, log }: Pick<PrepareOptions, 'now' | 'log'>,
  { lastSeen }: { lastSeen: number },
): void {
  const at = now();
  if (at < lastSeen - 5000)
    log.warn({ now: isoTime(at), last_seen: isoTime(lastSeen) }, 'the system clock went back');
}
