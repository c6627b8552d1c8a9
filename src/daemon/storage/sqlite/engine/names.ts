import { RecentMap } from '../../../../shared/recent-map.ts';
import type { Connection } from './connection.ts';

/** Names kept in memory; after that many, they are looked up again. */
const cachedMax = 20_000;

/** Names that a migration adds under fixed numbers. */
export const fixedNames = { completed: 1, incomplete: 2, failed: 3, canceled: 4, interrupted: 5 } as const;

/**
 * Writer-thread side of the table `names`, which stores each repeated text once. New names are collected in memory and
 * written before the COMMIT of their batch, so that an operation that fails alone cannot take back a name that another uses.
 */
export class NameNumbers {
  readonly #find: (text: string) => number | undefined;
  readonly #insert: (number: number, text: string) => unknown;
  readonly #rename: (text: string, number: number) => unknown;
  readonly #known = new Map<string, number>();
  /** Added by the running batch. */
  #added: [number: number, text: string][] = [];
  #last: number;

  constructor(database: Connection) {
    const find = database.prepare<[string], number>('SELECT number FROM names WHERE text = ?').pluck();
    const insert = database.prepare<[number, string]>('INSERT INTO names (number, text) VALUES (?, ?)');
    this.#find = (text) => find.get(text);
    const rename = database.prepare<[string, number]>('UPDATE names SET text = ? WHERE number = ?');
    this.#insert = (number, text) => insert.run(number, text);
    this.#rename = (text, number) => rename.run(text, number);
    this.#last =
      database.prepare<[], number>('SELECT coalesce(max(number), 0) FROM names').pluck().get() ?? 0;
  }

  /** The number of a name, which is added if it is new. */
  of(text: string): number {
    const number = this.#known.get(text) ?? this.#find(text) ?? this.#add(text);
    this.#known.set(text, number);
    return number;
  }

  ofNullable(text: string | null): number | null {
    return text === null ? null : this.of(text);
  }

  /** The number of a name, unless it is new. */
  find(text: string): number | undefined {
    return this.#known.get(text) ?? this.#find(text);
  }

  /** Has no row say this any more. What may still refer to the number reads another text. */
  erase(number: number, text: string): void {
    const erased = `forgotten ${number}`;
    this.#known.delete(text);
    this.#added = this.#added.map((name) => (name[0] === number ? [number, erased] : name));
    this.#rename(erased, number);
  }

  /** Call it in a transaction before which another writer has erased names. */
  forget(): void {
    this.#known.clear();
  }

  /** The names that the running batch adds. */
  get added(): readonly (readonly [number: number, text: string])[] {
    return this.#added;
  }

  begin(): void {
    this.#added = [];
    if (this.#known.size > cachedMax) this.#known.clear();
  }

  flush(): void {
    for (const [number, text] of this.#added) this.#insert(number, text);
  }

  /** Forgets the names of a batch after its ROLLBACK. */
  revert(): void {
    for (const [, text] of this.#added) this.#known.delete(text);
    this.#last -= this.#added.length;
    this.#added = [];
  }

  /** Call it in a transaction whose database another writer has changed, with the highest number in it. */
  reload(last: number): void {
    this.#last = last;
  }

  #add(text: string): number {
    this.#last += 1;
    this.#added.push([this.#last, text]);
    return this.#last;
  }
}

/** Reading side of the table `names`, whose rows only change when nothing refers to them. */
export class NameTexts {
  readonly #read: (number: number) => string | undefined;
  readonly #find: (text: string) => number | undefined;
  readonly #known = new RecentMap<number, string>(cachedMax);

  constructor(database: Connection) {
    const read = database.prepare<[number], string>('SELECT text FROM names WHERE number = ?').pluck();
    const find = database.prepare<[string], number>('SELECT number FROM names WHERE text = ?').pluck();
    this.#read = (number) => read.get(number);
    this.#find = (text) => find.get(text);
  }

  /** The number of a name; undefined if no row has used it yet. */
  numberOf(text: string): number | undefined {
    return this.#find(text);
  }

  of(number: number): string {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const text = this.#read(number);
    if (text === undefined) throw new Error(`there is no name ${number}`);
    this.#known.set(number, text);
    return text;
  }

  ofNullable(number: number | null): string | null {
    return number === null ? null : this.of(number);
  }
}
