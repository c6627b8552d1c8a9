import type { Connection } from '../../engine/connection.ts';
import { readMeta, writeMeta } from '../../engine/meta.ts';
import { entriesOfLink, entryFormat, linksFrom, readTip, type Tip } from './ledger-chain.ts';

/** A start adds up at most so many entries, and those of one commit. */
const entriesMax = 20_000;

/**
 * Writer-thread side of the checkpoint: a copy of all balances as of one link of the ledger chain. A start adds the entries of
 * later links to it and compares the sums with the balances, instead of adding up the whole ledger.
 */
export class CheckpointWriter {
  readonly #database: Connection;
  readonly #copy: (account: string) => unknown;
  /** Accounts that changed since the checkpoint; undefined if that is unknown. */
  #changed: Set<string> | undefined = new Set();
  /** Number of entries at the checkpoint. */
  #total: number;

  constructor(database: Connection, tip: Tip) {
    this.#database = database;
    const copy = database.prepare<[string]>(
      `INSERT INTO account_checkpoints (id, balance) SELECT id, balance FROM accounts WHERE id = ?
       ON CONFLICT (id) DO UPDATE SET balance = excluded.balance`,
    );
    this.#copy = (account) => copy.run(account);
    this.#total = tip.total;
  }

  /** Call with each account whose balance was written. */
  changed(account: string): void {
    this.#changed?.add(account);
  }

  /** Call it in a transaction whose database another writer has changed, with the number of entries at its checkpoint. */
  reload(total: number): void {
    this.#changed = undefined;
    this.#total = total;
  }

  /** Writes a checkpoint if there are enough new entries. */
  flush(tip: Tip): void {
    if (tip.total - this.#total >= entriesMax) this.write(tip);
  }

  write(tip: Tip): void {
    if (this.#changed) for (const account of this.#changed) this.#copy(account);
    else copyBalances(this.#database);
    writeMeta(this.#database, 'checkpoint_link', tip.number);
    this.#changed = new Set();
    this.#total = tip.total;
  }

  /** Call after a ROLLBACK. */
  revert(): void {
    this.#changed = undefined;
  }
}

/** Copies all balances as of the newest link, which takes a millisecond per thousand accounts. */
export function writeCheckpoint(database: Connection): void {
  const { number } = readTip(database);
  if (readMeta(database, 'checkpoint_link') === number) return;
  copyBalances(database);
  writeMeta(database, 'checkpoint_link', number);
}

function copyBalances(database: Connection): void {
  database.exec(
    'DELETE FROM account_checkpoints; INSERT INTO account_checkpoints SELECT id, balance FROM accounts',
  );
}

/** Whether the balances are those of the checkpoint plus the entries of later links, which must be unbroken. */
export function matchesCheckpoint(database: Connection): boolean {
  const checkpoint = readMeta(database, 'checkpoint_link');
  if (checkpoint === undefined) return false;
  const { links, problems } = linksFrom(database, checkpoint);
  if (links.length === 0 || problems.length > 0) return false;
  const changes = new Map<string, number>();
  const add = (account: string, amount: number) => changes.set(account, (changes.get(account) ?? 0) + amount);
  for (const entry of links.slice(1).flatMap(entriesOfLink)) {
    const amount = entryFormat.get(entry, 'amount');
    add(entryFormat.get(entry, 'debit'), -amount);
    add(entryFormat.get(entry, 'credit'), amount);
  }
  const differences = database
    .prepare<[], [string, number]>(
      `SELECT id, coalesce(accounts.balance, 0) - coalesce(account_checkpoints.balance, 0)
       FROM accounts FULL JOIN account_checkpoints USING (id)
       WHERE coalesce(accounts.balance, 0) <> coalesce(account_checkpoints.balance, 0)`,
    )
    .raw()
    .all();
  const expected = [...changes].filter(([, change]) => change !== 0);
  return (
    expected.length === differences.length && differences.every(([id, change]) => changes.get(id) === change)
  );
}
