import { hash } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';

/** A row of `entries`, in the order of its columns; times in milliseconds since 1970, amounts in nano-dollars. */
export type ChainedEntry = readonly [
  requestId: string,
  kind: string,
  debit: string,
  credit: string,
  amount: number,
  createdAt: number,
];

const columns = 'request_id, kind, debit, credit, amount, created_at';

/** The statement that makes an entry; `Totals.entered` is told of each. */
export function entryInsert(database: Connection) {
  return database.prepare<[ChainedEntry]>(`INSERT INTO entries (${columns}) VALUES (?, ?, ?, ?, ?, ?)`);
}

interface Link {
  number: number;
  /** The entries of one commit, as JSON. */
  entries: string;
  /** How many entries the ledger has with these. */
  total: number;
  /** SHA-256 of the link before and of this one's columns. */
  hash: Buffer;
}

type Tip = Omit<Link, 'entries'>;

/**
 * The ledger's second book: each commit that makes entries adds one link, which holds a copy of them and a hash over the
 * link before. Sums tell that an amount flipped; the chain tells which entry it was, and finds what leaves sums as they are.
 */
export class LedgerChain {
  readonly #insert: (link: Link) => unknown;
  #tip: Tip;
  #added: ChainedEntry[] = [];
  #tipAtStart: Tip;

  constructor(database: Connection) {
    const statement = database.prepare<[number, string, number, Buffer]>(
      'INSERT INTO ledger_chain (number, entries, total, hash) VALUES (?, ?, ?, ?)',
    );
    this.#insert = ({ number, entries, total, hash }) => statement.run(number, entries, total, hash);
    this.#tip = tipOf(database);
    this.#tipAtStart = this.#tip;
  }

  begin(): void {
    this.#tipAtStart = this.#tip;
  }

  /** Call it after the entry was inserted. */
  add(entry: ChainedEntry): void {
    this.#added.push(entry);
  }

  /** Writes the link, if there is anything to hold. */
  flush(): void {
    if (this.#added.length === 0) return;
    const link = linkAfter(this.#tip, this.#added);
    this.#insert(link);
    this.#tip = link;
    this.#added = [];
  }

  /** Forgets the batch after its ROLLBACK. */
  revert(): void {
    this.#tip = this.#tipAtStart;
    this.#added = [];
  }
}

/** The newest link; the first one stands for all entries that are older than the chain. */
function tipOf(database: Connection): Tip {
  const tip = database
    .prepare<[], Tip>('SELECT number, total, hash FROM ledger_chain ORDER BY number DESC LIMIT 1')
    .get();
  if (!tip) throw new Error('the chain of the ledger has no beginning');
  return tip;
}

function linkAfter(before: Tip, added: readonly ChainedEntry[]): Link {
  const link = {
    number: before.number + 1,
    total: before.total + added.length,
    entries: JSON.stringify(added),
  };
  return { ...link, hash: hashOf(before.hash, link) };
}

function hashOf(before: Buffer, { number, total, entries }: Omit<Link, 'hash'>): Buffer {
  return hash('sha256', `${before.toString('hex')} ${number} ${total} ${entries}`, 'buffer');
}

/** What a walk along the chain found: `problems` are sentences; `last` is the newest link that was reached. */
export interface ChainFindings {
  problems: string[];
  last: number;
}

/** Who changes one link has to change all that follow: a few sentences are enough. */
const problemsMax = 20;

/**
 * Follows the chain from a link that was verified before (0: all of it) and compares each entry with its copy, in one
 * snapshot, as calls go on beside it. Takes about four microseconds an entry.
 */
export function verifyChain(database: Connection, { from }: { from: number }): ChainFindings {
  return database.transaction(() => follow(database, from))();
}

function follow(database: Connection, from: number): ChainFindings {
  const links = database.prepare<[number], Link>(
    'SELECT number, entries, total, hash FROM ledger_chain WHERE number >= ? ORDER BY number',
  );
  const different = differencesIn(database);
  const problems: string[] = [];
  let before: Link | undefined;
  for (const link of links.iterate(from)) {
    if (before) problems.push(...(brokenAfter(before, link) ?? different(link)));
    before = link;
    if (problems.length >= problemsMax) break;
  }
  if (before === undefined) problems.push(`The chain of the ledger has no link ${from}.`);
  else if (problems.length === 0) problems.push(...unchained(database, before));
  return { problems: problems.slice(0, problemsMax), last: before?.number ?? 0 };
}

function brokenAfter(before: Link, link: Link): string[] | undefined {
  if (link.number !== before.number + 1) return [`The chain of the ledger lacks link ${before.number + 1}.`];
  if (link.hash.equals(hashOf(before.hash, link))) return undefined;
  return [`Link ${link.number} of the ledger’s chain is not as it was written.`];
}

/** Gives sentences for the entries that are not what a link has of them. */
function differencesIn(database: Connection): (link: Link) => string[] {
  const entry = database
    .prepare<[string, string], unknown[]>(`SELECT ${columns} FROM entries WHERE request_id = ? AND kind = ?`)
    .raw();
  return ({ entries }) =>
    (JSON.parse(entries) as ChainedEntry[])
      .filter((copy) => JSON.stringify(entry.get(copy[0], copy[1])) !== JSON.stringify(copy))
      .map(([requestId, kind]) => `The entry ${kind} of ${requestId} is not as it was written.`);
}

function unchained(database: Connection, { total }: Link): string[] {
  const entries = database.prepare<[], number>('SELECT count(*) FROM entries').pluck().get();
  return entries === total ? [] : [`The ledger has ${entries} entries, and its chain ${total}.`];
}
