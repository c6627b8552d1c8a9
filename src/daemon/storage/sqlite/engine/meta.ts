import { isDoubtful } from '../../passed-time.ts';
import type { Connection } from './connection.ts';

/**
 * `clean_shutdown`: 1 while the database is closed after a clean shutdown, else 0.
 * `last_seen`: the latest wall clock time, noted every minute of use, and when a credential was found to have expired.
 * `set_back_at`: to what the clock was last set back.
 * `chain_verified`: the last verified link of the ledger chain.
 * `checkpoint_link`: the link as of which `account_checkpoints` has all balances.
 * `checked_at`: the end of the last check of the whole database, milliseconds since 1970.
 * `needs_check`: 1 after an unclean shutdown, until the whole database was checked.
 * `first_event`, `last_event`: bounds of the sequences of stored events; the last keeps rising after all were pruned.
 * `folded_to`: the last call in the daily totals and the index.
 * `totals_from`: since when totals by quarter of an hour, by label and of latency have all calls, milliseconds since 1970.
 * `slots_from`: the same of totals by label and quarter of an hour, and of requests to providers.
 * `restored_to`: the time of the backup that was restored, until the first start after it.
 * `forgotten_names`: how often names of end users were replaced, after which writers read names again.
 * `commits`: how many transactions with writes were committed.
 * `last_daemon`: the highest number of a daemon, where several can use the database.
 * `data_key`: identifies the key in the file `data-key`, without revealing it.
 * `unfinished_copy`: 1 while another database is being copied to this one.
 */
export type MetaName =
  | 'clean_shutdown'
  | 'last_seen'
  | 'set_back_at'
  | 'first_event'
  | 'last_event'
  | 'folded_to'
  | 'totals_from'
  | 'slots_from'
  | 'chain_verified'
  | 'checkpoint_link'
  | 'checked_at'
  | 'needs_check'
  | 'restored_to'
  | 'data_key'
  | 'unfinished_copy'
  | 'forgotten_names'
  | 'commits'
  | 'last_daemon';

/** Undefined if it was never written. */
export function readMeta(database: Connection, name: MetaName): number | undefined {
  return database.prepare<[MetaName], number>('SELECT value FROM meta WHERE name = ?').pluck().get(name);
}

export function writeMeta(database: Connection, name: MetaName, value: number): void {
  database
    .prepare<[MetaName, number]>(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(name, value);
}

/**
 * Stores that the clock has shown a time, unless it is earlier than the one that is stored, or doubtful after it. Returns false for
 * one that is doubtful.
 */
export function noteTime(database: Connection, at: number, { isSure = false } = {}): boolean {
  const seen = readMeta(database, 'last_seen') ?? 0;
  if (!isSure && isDoubtful(at, seen)) return false;
  if (at > seen) writeMeta(database, 'last_seen', at);
  return true;
}

export function removeMeta(database: Connection, name: MetaName): void {
  database.prepare<[MetaName]>('DELETE FROM meta WHERE name = ?').run(name);
}

/** SQL of the highest event sequence ever used; NULL before the first event. */
export const highestSequence = `SELECT max(number) FROM (
  SELECT max(sequence) AS number FROM events UNION ALL SELECT max(number) FROM calls
  UNION ALL SELECT value FROM meta WHERE name = 'last_event') AS highest`;

/** The highest event sequence ever used; 0 before the first event. */
export function lastEvent(database: Connection): number {
  return database.prepare<[], number | null>(highestSequence).pluck().get() ?? 0;
}
