import type { Connection } from './connection.ts';

/**
 * `clean_shutdown`: 1 while the database lies closed after an orderly end, else 0.
 * `last_seen`: the latest wall clock that a daemon saw, milliseconds since 1970.
 * `chain_verified`: the link of the ledger's chain up to which it was found whole.
 * `last_event`: a floor for the sequence of events, so that it goes on rising when all of them are pruned.
 */
export type MetaName = 'clean_shutdown' | 'last_seen' | 'last_event' | 'chain_verified';

/** Undefined when it was never written. */
export function readMeta(database: Connection, name: MetaName): number | undefined {
  return database.prepare<[MetaName], number>('SELECT value FROM meta WHERE name = ?').pluck().get(name);
}

export function writeMeta(database: Connection, name: MetaName, value: number): void {
  database
    .prepare<[MetaName, number]>(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    )
    .run(name, value);
}

/** The sequence of the newest event that ever was; 0 before the first. */
export function lastEvent(database: Connection): number {
  return (
    database
      .prepare<[], number>(
        `SELECT max(coalesce((SELECT max(sequence) FROM events), 0),
                    coalesce((SELECT value FROM meta WHERE name = 'last_event'), 0))`,
      )
      .pluck()
      .get() ?? 0
  );
}
