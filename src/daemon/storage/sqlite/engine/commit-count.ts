import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Connection } from './connection.ts';
import { DataNeedsRepair } from './errors.ts';
import { readMeta } from './meta.ts';

/** The file beside a database that counts its commits while a daemon runs, and after it was killed. */
export function commitCountFile(file: string): string {
  return `${file}-commits`;
}

/** Commits that the file counts; 0 without one, or if a power cut left it incomplete. */
export function countedCommits(file: string): number {
  try {
    const [, digits] = /^(\d{16})\n$/.exec(readFileSync(commitCountFile(file), 'latin1')) ?? [];
    return Number(digits ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Fails with `DataNeedsRepair` if a database has fewer commits than were counted: a deleted write-ahead log, unlike a damaged
 * one, leaves nothing else to notice it by.
 */
export function requireAllCommits(database: Connection): void {
  const missing = countedCommits(database.name) - (readMeta(database, 'commits') ?? 0);
  if (missing <= 0) return;
  throw new DataNeedsRepair(
    database.name,
    `its last ${missing === 1 ? 'change is' : `${missing} changes are`} missing, as after its write-ahead log was deleted, \
cut off or replaced. To start without them, delete ${commitCountFile(database.name)}`,
  );
}

/** Counts commits in the database, and after each in a file beside it. The file is never ahead, even after a power cut. */
export class CommitCount {
  readonly #path: string;
  readonly #store: (count: number) => void;
  #handle: number | undefined;
  #count: number;

  constructor(database: Connection) {
    this.#path = commitCountFile(database.name);
    this.#count = readMeta(database, 'commits') ?? 0;
    const insert = database.prepare<[number]>(
      "INSERT INTO meta (name, value) VALUES ('commits', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    );
    this.#store = (count) => void insert.run(count);
    try {
      this.#handle = openSync(this.#path, 'w', 0o600);
      this.#write();
    } catch {
      // On a full disk: then a deleted log is not noticed.
    }
  }

  /** Call it in the transaction, last. */
  beforeCommit(): void {
    this.#store(this.#count + 1);
  }

  afterCommit(): void {
    this.#count += 1;
    this.#write();
  }

  /** Deletes the file, once the database is closed and needs no write-ahead log. */
  remove(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
    rmSync(this.#path, { force: true });
  }

  #write(): void {
    if (this.#handle === undefined) return;
    try {
      writeSync(this.#handle, `${String(this.#count).padStart(16, '0')}\n`, 0);
    } catch {
      // A count that is too low is safe.
    }
  }
}
