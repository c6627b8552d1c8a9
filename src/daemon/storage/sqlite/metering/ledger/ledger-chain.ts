import { hash } from 'node:crypto';
import type { Connection } from '../../engine/connection.ts';
import { insertSql, rowFormat } from '../../engine/row-format.ts';
import type { EntrySum } from './check-balances.ts';
import type { entries } from './ledger-tables.ts';

type EntryRecord = typeof entries.$inferSelect;

/** Rows of `entries`. The chain hashes them as JSON in this order, so it must never change. */
export const entryFormat = rowFormat<typeof entries, EntryRecord>()({
  requestId: 'requestId',
  kind: 'kind',
  debit: 'debit',
  credit: 'credit',
  amount: 'amount',
  createdAt: 'createdAt',
});

export type EntryRow = typeof entryFormat extends { row(entry: never): infer R } ? R : never;

/** The statement that inserts an entry; pass each inserted entry to `BatchTotals.addEntry`. */
export function entryInsert(database: Connection) {
  return database.prepare<[EntryRow]>(insertSql('entries', entryFormat));
}

interface Link {
  number: number;
  /** The entries of one commit, as JSON. */
  entries: string;
  /** Number of ledger entries up to and including this link. */
  total: number;
  /** SHA-256 of the previous link's hash and this link's columns. */
  hash: Buffer;
}

export type Tip = Omit<Link, 'entries'>;

/**
 * Tamper-evident copy of the ledger: each commit that adds entries appends a link with a copy of them and a hash over the
 * previous link. Balances reveal that an amount changed; the chain reveals which entry, and changes that keep the balances.
 */
export class LedgerChain {
  readonly #insert: (link: Link) => unknown;
  #tip: Tip;
  #added: EntryRow[] = [];
  #tipAtStart: Tip;

  constructor(database: Connection) {
    const statement = database.prepare<[Link]>(
      'INSERT INTO ledger_chain (number, entries, total, hash) VALUES (@number, @entries, @total, @hash)',
    );
    this.#insert = (link) => statement.run(link);
    this.#tip = readTip(database);
    this.#tipAtStart = this.#tip;
  }

  /** The newest link, including that of the running batch once it is flushed. */
  get tip(): Tip {
    return this.#tip;
  }

  begin(): void {
    this.#tipAtStart = this.#tip;
  }

  /** Call it in a transaction whose database another writer has changed, with its newest link. */
  reload(tip: Tip): void {
    this.#tip = tip;
  }

  /** Call after the entry was inserted. */
  add(entry: EntryRow): void {
    this.#added.push(entry);
  }

  /** Writes the link, if entries were added. */
  flush(): void {
    if (this.#added.length === 0) return;
    const link = nextLink(this.#tip, this.#added);
    this.#insert(link);
    this.#tip = link;
    this.#added = [];
  }

  /** Discards the batch after its ROLLBACK. */
  revert(): void {
    this.#tip = this.#tipAtStart;
    this.#added = [];
  }
}

/** The newest link; link 0 stands for all entries older than the chain. */
export function readTip(database: Connection): Tip {
  const tip = database
    .prepare<[], Tip>('SELECT number, total, hash FROM ledger_chain ORDER BY number DESC LIMIT 1')
    .get();
  if (!tip) throw new Error('the ledger chain has no first link');
  return tip;
}

function nextLink(previous: Tip, added: readonly EntryRow[]): Link {
  const link = {
    number: previous.number + 1,
    total: previous.total + added.length,
    entries: JSON.stringify(added),
  };
  return { ...link, hash: linkHash(previous.hash, link) };
}

function linkHash(previous: Buffer, { number, total, entries }: Omit<Link, 'hash'>): Buffer {
  return hash('sha256', `${previous.toString('hex')} ${number} ${total} ${entries}`, 'buffer');
}

/** `problems` are sentences; `last` is the newest link that was reached. */
export interface ChainFindings {
  problems: string[];
  last: number;
  /** The number of all entries, if it is that of the chain. */
  entries: number | undefined;
  /** The sums of all entries, if the chain was followed from its start and every entry equals its copy. */
  sums: EntrySum[] | undefined;
}

/** A changed link invalidates all later ones, so a few sentences suffice. */
const problemsMax = 20;

/** Entries are read and compared with their copies so many at a time. */
const comparedAtOnce = 1_000;

/**
 * Follows the chain from a previously verified link (0: from the start) and compares each entry with its copy, while calls
 * continue. Takes about three microseconds per entry. Neither links nor entries ever change, so each step can read its own snapshot.
 */
export class ChainVerification {
  readonly #database: Connection;
  readonly #links: (from: number) => IterableIterator<Link>;
  readonly #changedEntries: (copies: readonly EntryRow[]) => string[];
  readonly #from: number;
  readonly #entriesOfStep: number;
  readonly #problems: string[] = [];
  readonly #sums = new Map<string, EntrySum>();
  #previous: Link | undefined;
  /** Entries older than the first link. */
  #uncopied = 0;

  /** A step reads links with about so many entries; default all. */
  constructor(
    database: Connection,
    { from, entriesOfStep = Number.MAX_SAFE_INTEGER }: { from: number; entriesOfStep?: number },
  ) {
    const links = database.prepare<[number], Link>(
      'SELECT number, entries, total, hash FROM ledger_chain WHERE number >= ? ORDER BY number',
    );
    this.#database = database;
    this.#links = (first) => links.iterate(first);
    this.#changedEntries = changedEntries(database);
    this.#from = from;
    this.#entriesOfStep = entriesOfStep;
  }

  /** Verifies the next links; returns whether there may be more. */
  step(): boolean {
    const before = this.#previous?.total;
    let copies: EntryRow[] = [];
    const compare = () => {
      this.#problems.push(...this.#changedEntries(copies));
      copies = [];
    };
    let mayBeMore = false;
    for (const link of this.#links(this.#previous ? this.#previous.number + 1 : this.#from)) {
      const previous = this.#previous;
      this.#previous = link;
      const problem = previous && linkProblem(previous, link);
      if (problem !== undefined) this.#problems.push(problem);
      else if (previous) copies.push(...this.#read(link));
      else this.#uncopied = link.total;
      if (copies.length >= comparedAtOnce) compare();
      mayBeMore = link.total - (before ?? this.#uncopied) >= this.#entriesOfStep;
      if (mayBeMore || this.#problems.length >= problemsMax) break;
    }
    compare();
    return mayBeMore && this.#problems.length < problemsMax;
  }

  /** Verifies all links that are left. Call it in a transaction, so that the number of entries is that of the last link. */
  finish(): ChainFindings {
    while (this.#problems.length < problemsMax && this.step());
    const [problems, last] = [this.#problems, this.#previous];
    if (last === undefined) problems.push(`The ledger chain has no link ${this.#from}.`);
    else if (problems.length === 0) problems.push(...countProblems(this.#database, last));
    const isSound = problems.length === 0;
    return {
      problems: problems.slice(0, problemsMax),
      last: last?.number ?? 0,
      entries: isSound ? last?.total : undefined,
      sums: isSound && this.#from === 0 && this.#uncopied === 0 ? [...this.#sums.values()] : undefined,
    };
  }

  /** The copies in a link, which are added to the sums. */
  #read(link: Link): EntryRow[] {
    const copies = entriesOfLink(link);
    for (const copy of copies) {
      const [kind, amount] = [entryFormat.get(copy, 'kind'), entryFormat.get(copy, 'amount')];
      const [debit, credit] = [entryFormat.get(copy, 'debit'), entryFormat.get(copy, 'credit')];
      const name = `${kind} ${debit} ${credit}`;
      const sum = this.#sums.get(name);
      if (sum) sum.amount += amount;
      else this.#sums.set(name, { kind, debit, credit, amount });
    }
    return copies;
  }
}

/** Verifies the chain in one snapshot. */
export function verifyChain(database: Connection, { from }: { from: number }): ChainFindings {
  return database.transaction(() => new ChainVerification(database, { from }).finish())();
}

/** The links from a known one on, and whether they follow each other. The entries are not compared with their copies. */
export function linksFrom(database: Connection, from: number): { links: Link[]; problems: string[] } {
  const links = database
    .prepare<[number], Link>(
      'SELECT number, entries, total, hash FROM ledger_chain WHERE number >= ? ORDER BY number',
    )
    .all(from);
  const problems = links.slice(1).flatMap((link, index) => linkProblem(links[index] as Link, link) ?? []);
  return { links, problems };
}

/** The copies of a link's entries. */
export function entriesOfLink({ entries }: Link): EntryRow[] {
  return JSON.parse(entries) as EntryRow[];
}

function linkProblem(previous: Link, link: Link): string | undefined {
  if (link.number !== previous.number + 1)
    return `Link ${previous.number + 1} of the ledger chain is missing.`;
  if (link.hash.equals(linkHash(previous.hash, link))) return undefined;
  return `Link ${link.number} of the ledger chain was changed.`;
}

/** Returns a function that lists the entries that differ from their copies. */
function changedEntries(database: Connection): (copies: readonly EntryRow[]) => string[] {
  const entriesOf = database
    .prepare<[string], EntryRow>(
      `SELECT ${entryFormat.names.join(', ')} FROM json_each(?) AS asked CROSS JOIN entries
       WHERE request_id = asked.value`,
    )
    .raw();
  return (copies) => {
    const ids = new Set(copies.map((copy) => entryFormat.get(copy, 'requestId')));
    const found = new Set(entriesOf.all(JSON.stringify([...ids])).map((entry) => JSON.stringify(entry)));
    return copies
      .filter((copy) => !found.has(JSON.stringify(copy)))
      .map((copy) => {
        const [requestId, kind] = [entryFormat.get(copy, 'requestId'), entryFormat.get(copy, 'kind')];
        return `The ${kind} entry of ${requestId} was changed or deleted.`;
      });
  };
}

function countProblems(database: Connection, { total }: Link): string[] {
  const found = database.prepare<[], number>('SELECT count(*) FROM entries').pluck().get();
  return found === total ? [] : [`The ledger has ${found} entries, but its chain has ${total}.`];
}
