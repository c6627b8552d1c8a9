import type { CopiedTable } from './copied-tables.ts';

/** Receives lines of rows; each chunk ends with a complete one. */
export type Take = (lines: Buffer) => void | Promise<void>;

/** A database that is copied, or was copied to. */
export interface CopySide {
  /** How many rows each table has, by its name. */
  counts(tables: readonly CopiedTable[]): Promise<Map<string, number>>;
  /** All rows in the order of the key. A server does not wait for what `take` returns. */
  read(table: CopiedTable, take: Take): Promise<void>;
  /** The highest number that each table has used, as those of deleted rows are not used again. */
  numbers(): Promise<Map<string, number>>;
  /** Never throws. */
  close(): Promise<void>;
}

/** A database that is filled, and cannot be used before `finish`. */
export interface CopyTarget extends CopySide {
  /**
   * Begins the copy of the source that `mark` identifies, or goes on with it: resolves to the digests of the tables that are
   * complete. Rejects if the copy that was begun is of another source.
   */
  begin(mark: string): Promise<Map<string, string>>;
  /** Replaces the rows of a table, all or nothing; `feed` writes about that many and resolves to their digest. */
  fill(table: CopiedTable, rows: number, feed: (write: Take) => Promise<string>): Promise<void>;
  /** Verifies the ledger; resolves to the problems that were found, as sentences. */
  problems(): Promise<string[]>;
  finish(numbers: ReadonlyMap<string, number>): Promise<void>;
}

/** The table that is copied last, as it says whether a copy is unfinished. */
export const metaTable = 'meta';

/** The table of a copy's progress: the digest of each complete table, and the mark of the source under `sourceName`. */
export const progressTable = 'copied_tables';
export const sourceName = '';

/** The columns and rows that are copied; for SQL after SELECT. */
export function selection({ name, columns }: CopiedTable): string {
  return `${columns.map((column) => quoted(column.name)).join(', ')} FROM ${quoted(name)}${exceptMark(name)}`;
}

/** The number of rows of each table, in a column of its name. */
export function countsOf(tables: readonly CopiedTable[]): string {
  const counts = tables.map(
    ({ name }) => `(SELECT count(*) FROM ${quoted(name)}${exceptMark(name)}) AS ${quoted(name)}`,
  );
  return `SELECT ${counts.join(', ')}`;
}

export function exceptMark(name: string): string {
  return name === metaTable ? " WHERE name <> 'unfinished_copy'" : '';
}

export function quoted(name: string): string {
  return `"${name}"`;
}
