import type { Connection } from '../../engine/connection.ts';
import { highestSequence } from '../../engine/meta.ts';
import type { Tip } from './ledger-chain.ts';

/** What the writer keeps in memory of the database from one batch to the next, as other writers may have changed it. */
export interface StoredState {
  /** The newest link of the ledger chain. */
  tip: Tip;
  /** The highest number in `names`. */
  lastName: number;
  /** The highest sequence of events and calls. */
  lastEvent: number;
  /** The last call in the totals; null before the first. */
  foldedTo: number | null;
  /** How often names were erased; null before the first time. */
  forgottenNames: number | null;
  /** The number of entries at the checkpoint. */
  checkpointTotal: number | null;
}

/** Returns a function that reads the state, in one statement, as a server is asked for it while others wait. */
export function storedStateReader(database: Connection): () => StoredState {
  type Row = Tip & Omit<StoredState, 'tip'>;
  const statement = database.prepare<[], Row>(
    `SELECT number, total, hash,
       coalesce((SELECT max(number) FROM names), 0) AS "lastName",
       coalesce((${highestSequence}), 0) AS "lastEvent",
       (SELECT value FROM meta WHERE name = 'folded_to') AS "foldedTo",
       (SELECT value FROM meta WHERE name = 'forgotten_names') AS "forgottenNames",
       (SELECT total FROM ledger_chain WHERE number = (SELECT value FROM meta WHERE name = 'checkpoint_link'))
         AS "checkpointTotal"
     FROM ledger_chain ORDER BY number DESC LIMIT 1`,
  );
  return () => {
    const row = statement.get();
    if (!row) throw new Error('the ledger chain has no first link');
    const { number, total, hash, ...others } = row;
    return { tip: { number, total, hash }, ...others };
  };
}
