import { registerDaemon } from './daemons/own-daemon.ts';
import type { Connection } from './engine/connection.ts';
import { DataNeedsRepair, UnfinishedCopy } from './engine/errors.ts';
import { noteTime, readMeta, removeMeta, writeMeta } from './engine/meta.ts';
import { setClockBack } from './expire-credentials.ts';
import { balanceProblems, balanceTotals, checkBalances } from './metering/ledger/check-balances.ts';
import { matchesCheckpoint, writeCheckpoint } from './metering/ledger/checkpoint.ts';
import { openAfterRestore } from './wallet/reconciliation-writes.ts';

/**
 * Compares the balances with the checkpoint and the entries after it; if they differ, all entries are added up before anything
 * is written. Versions without a checkpoint trust the balances after a clean shutdown.
 */
export function requireSoundBalances(database: Connection, isOld: boolean): void {
  const totals = balanceTotals(database);
  const isSound = isOld ? readMeta(database, 'clean_shutdown') === 1 : matchesCheckpoint(database);
  const problems = balanceProblems(isSound ? { wrong: [], totals } : checkBalances(database));
  if (problems.length > 0) throw new DataNeedsRepair(database.name, problems.join('; '));
}

/** The target of a copy lacks rows until the copy is complete. */
export function requireFinishedCopy(database: Connection): void {
  if (readMeta(database, 'unfinished_copy') !== undefined) throw new UnfinishedCopy(database.name);
}

/** Secrets sealed under an unknown master key were tampered with, or come from a partial restore. */
export function requireMasterKeys(database: Connection): void {
  const lost = database
    .prepare<[], number>(
      'SELECT count(*) FROM vault_secrets WHERE kid NOT IN (SELECT kid FROM vault_masters)',
    )
    .pluck()
    .get();
  if (!lost) return;
  throw new DataNeedsRepair(database.name, `the master key of ${lost} sealed secrets is missing`);
}

/**
 * Marks the database as open until a clean shutdown, by a new daemon whose clock shows `at`. Returns its number, and when the
 * database was last seen.
 */
export function markOpen(
  database: Connection,
  at: number,
  register = () => registerDaemon(database, at),
): { lastSeen: number; daemon: number } {
  const lastSeen = readMeta(database, 'last_seen') ?? 0;
  const daemon = database.transaction(() => {
    if (at < lastSeen) setClockBack(database, { at, seen: lastSeen });
    else noteTime(database, at);
    const restoredTo = readMeta(database, 'restored_to');
    if (restoredTo !== undefined) {
      database.prepare(openAfterRestore).run({ since: restoredTo, at });
      removeMeta(database, 'restored_to');
    }
    if (readMeta(database, 'clean_shutdown') !== 1) writeMeta(database, 'needs_check', 1);
    const number = register();
    writeCheckpoint(database);
    writeMeta(database, 'clean_shutdown', 0);
    return number;
  })();
  return { lastSeen, daemon };
}
