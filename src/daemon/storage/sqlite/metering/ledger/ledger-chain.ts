import { hash } from 'node:crypto';
import type { Connection } from '../../engine/connection.ts';
import { insertSql, rowFormat } from '../../engine/row-format.ts';
import type { EntrySum } from './check-balances.ts';
import type { entries } from './ledger-tables.ts';

type EntryRecord = typeof entries.$inferSelect;

/** Rows of `entries`. The chain hashes them as JSON in this order, so it must never change. */
export const entryFormat = rowFormat<typeof entries, EntryRecord>()({
  requestId: (entry) => entry.requestId,
  kind: (entry) => entry.kind,
  debit: (entry) => entry.debit,
  credit: (entry) => entry.credit,
  amount: (entry) => entry.amount,
  createdAt: (entry) => entry.createdAt,
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

/**
 * Follows the chain from a previously verified link (0: from the start) and compares each entry with its copy, while calls
 * continue. Takes about two microseconds per entry. Neither links nor entries ever change, so each step can read its own snapshot.
 */
export class ChainVerification {
  readonly #database: Connection;
  readonly #links: (from: number) => IterableIterator<Link>;
  readonly #comparison: EntryComparison;
  readonly #from: number;
  readonly #entriesOfStep: number;
  readonly #problems: string[] = [];
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
    this.#comparison = new EntryComparison(database);
    this.#from = from;
    this.#entriesOfStep = entriesOfStep;
  }

  /** Verifies the next links; returns whether there may be more. */
  step(): boolean {
    if (this.#problems.length >= problemsMax) return false;
    const before = this.#previous?.total;
    for (const link of this.#links(this.#previous ? this.#previous.number + 1 : this.#from)) {
      const previous = this.#previous;
      this.#previous = link;
      if (previous) this.#problems.push(...(linkProblems(previous, link) ?? this.#comparison.add(link)));
      else this.#uncopied = link.total;
      if (this.#problems.length >= problemsMax) return false;
      if (link.total - (before ?? this.#uncopied) >= this.#entriesOfStep) return true;
    }
    return false;
  }

  /** Verifies all links that are left. Call it in a transaction, so that the number of entries is that of the last link. */
  finish(): ChainFindings {
    while (this.step());
    const [problems, last] = [this.#problems, this.#previous];
    problems.push(...this.#comparison.finish());
    if (last === undefined) problems.push(`The ledger chain has no link ${this.#from}.`);
    else if (problems.length === 0) problems.push(...countProblems(this.#database, last));
    const isSound = problems.length === 0;
    return {
      problems: problems.slice(0, problemsMax),
      last: last?.number ?? 0,
      entries: isSound ? last?.total : undefined,
      sums: isSound && this.#from === 0 && this.#uncopied === 0 ? this.#comparison.sums : undefined,
    };
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
  const problems = links.slice(1).flatMap((link, index) => linkProblems(links[index] as Link, link) ?? []);
  return { links, problems };
}

/** The copies of a link's entries. */
export function entriesOfLink({ entries }: Link): EntryRow[] {
  return JSON.parse(entries) as EntryRow[];
}

function linkProblems(previous: Link, link: Link): string[] | undefined {
  if (link.number !== previous.number + 1)
    return [`Link ${previous.number + 1} of the ledger chain is missing.`];
  if (link.hash.equals(linkHash(previous.hash, link))) return undefined;
  return [`Link ${link.number} of the ledger chain was changed.`];
}

/** Copies of so many entries are compared together. */
const comparedAtOnce = 2_000;

/**
 * Compares entries with their copies in links. Both are read as JSON texts and compared many at once: rows and their columns as
 * values of their own would take three times as long. What does not match is compared again entry by entry.
 */
class EntryComparison {
  readonly #between: (first: string, last: string) => string | null | undefined;
  readonly #idAfter: (first: string, count: number) => string | undefined;
  readonly #changedEntries: (link: Link) => string[];
  readonly #sums = new EntrySums();
  #links: Link[] = [];
  #copies: string[] = [];

  constructor(database: Connection) {
    // A LIMIT here would double the time per entry.
    const between = database
      .prepare<[string, string], string | null>(
        `SELECT string_agg(entry, '${betweenEntries}') FROM (
           SELECT concat(${entryAsJson}) AS entry FROM entries WHERE request_id BETWEEN ? AND ? ORDER BY request_id, kind) AS page`,
      )
      .pluck();
    const idAfter = database
      .prepare<[string, number], string>(
        'SELECT request_id FROM entries WHERE request_id >= ? ORDER BY request_id LIMIT 1 OFFSET ?',
      )
      .pluck();
    this.#between = (first, last) => between.get(first, last);
    this.#idAfter = (first, count) => idAfter.get(first, count);
    this.#changedEntries = changedEntries(database);
  }

  /** The sums of the compared entries by kind and accounts. */
  get sums(): EntrySum[] {
    return this.#sums.all();
  }

  /** Returns problems of this link and of earlier ones, unless the link is compared later. */
  add(link: Link): string[] {
    this.#links.push(link);
    for (const copy of link.entries.slice(2, -2).split(betweenEntries)) this.#copies.push(copy);
    return this.#copies.length < comparedAtOnce ? [] : this.finish();
  }

  /** Compares the links that were not compared yet. */
  finish(): string[] {
    const [links, copies] = [this.#links, this.#copies];
    [this.#links, this.#copies] = [[], []];
    sortAlmostSorted(copies);
    if (!this.#areSame(copies)) return links.flatMap(this.#changedEntries);
    for (const copy of copies) this.#sums.add(copy);
    return [];
  }

  /** Whether every copy is equal to an entry. May be false for equal ones if a text in them needs an escape. */
  #areSame(copies: readonly string[]): boolean {
    let size = comparedAtOnce;
    for (let at = 0; at < copies.length; at += size) {
      size = Math.min(2 * size, copies.length - at);
      const first = idIn(copies[at] as string);
      const last = () => idIn(copies[at + size - 1] as string);
      // A call that took an hour is among all calls of that hour.
      while (size > 1 && !this.#areNear(first, last(), size)) size = Math.ceil(size / 2);
      const page = this.#between(first, last()) ?? '';
      if (page === copies.slice(at, at + size).join(betweenEntries)) continue;
      // Entries of other links may be between these.
      let next = at;
      for (const entry of page.split(betweenEntries)) if (entry === copies[next]) next += 1;
      if (next < at + size) return false;
    }
    return true;
  }

  /** Whether at most as many other entries are between those of two ids. */
  #areNear(first: string, last: string, size: number): boolean {
    const after = this.#idAfter(first, 2 * size);
    return after === undefined || after > last;
  }
}

/** In a link, the entries of a call are in the order of its settlement, and in the table in that of their kinds. */
function sortAlmostSorted(copies: string[]): void {
  let isSorted = true;
  for (let index = 1; index < copies.length; index += 1) {
    const [before, copy] = [copies[index - 1] as string, copies[index] as string];
    if (copy > before) continue;
    [copies[index - 1], copies[index]] = [copy, before];
    isSorted &&= index === 1 || copy > (copies[index - 2] as string);
  }
  if (!isSorted) copies.sort();
}

/** Sums of amounts by kind and accounts. */
class EntrySums {
  readonly #sums = new Map<string, { amount: number }>();

  all(): EntrySum[] {
    return Array.from(this.#sums, ([columns, { amount }]) => {
      const [kind, debit, credit] = JSON.parse(`[${columns}]`) as [EntrySum['kind'], string, string];
      return { kind, debit, credit, amount };
    });
  }

  /** Reads the copy of an entry from its end, as searching and converting parts of it would take three times as long. */
  add(copy: string): void {
    let at = copy.length - 1;
    while (copy.charCodeAt(at) !== comma) at -= 1;
    let amount = 0;
    for (let place = 1; copy.charCodeAt(at - 1) !== comma; place *= 10) {
      at -= 1;
      amount += (copy.charCodeAt(at) - zero) * place;
    }
    const columns = copy.slice(copy.indexOf(',') + 1, at - 1);
    const sum = this.#sums.get(columns);
    if (sum) sum.amount += amount;
    else this.#sums.set(columns, { amount });
  }
}

const comma = ','.charCodeAt(0);
const zero = '0'.charCodeAt(0);

const betweenEntries = '],[';

const isNumber = (name: string | undefined) => name === 'amount' || name === 'created_at';

/** SQL of an entry as in a link, without the brackets. SQLite's JSON functions take longer, and so would more literals. */
const entryAsJson = entryFormat.names
  .map((name, index, all) => {
    const before = index === 0 ? '' : isNumber(all[index - 1]) ? ',' : '",';
    return `'${before}${isNumber(name) ? '' : '"'}', ${name}`;
  })
  .join(', ');

/** The id that a copy starts with. */
function idIn(copy: string): string {
  return copy.slice(1, copy.indexOf('"', 1));
}

/** Returns a function that lists the entries that differ from the copies in a link. */
function changedEntries(database: Connection): (link: Link) => string[] {
  const entry = database
    .prepare<[string, string], unknown[]>(
      `SELECT ${entryFormat.names.join(', ')} FROM entries WHERE request_id = ? AND kind = ?`,
    )
    .raw();
  return (link) =>
    entriesOfLink(link).flatMap((copy) => {
      const [requestId, kind] = [entryFormat.get(copy, 'requestId'), entryFormat.get(copy, 'kind')];
      if (JSON.stringify(entry.get(requestId, kind)) === JSON.stringify(copy)) return [];
      return [`The ${kind} entry of ${requestId} was changed or deleted.`];
    });
}

function countProblems(database: Connection, { total }: Link): string[] {
  const found = database.prepare<[], number>('SELECT count(*) FROM entries').pluck().get();
  return found === total ? [] : [`The ledger has ${found} entries, but its chain has ${total}.`];
}
