import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import type { ContentSelection } from '../../features/capture/index.ts';
import { ContentFileUnusable, deleteContentFile, openContentFile } from './content-file.ts';
import { type ContentNumbers, numberAt } from './content-numbers.ts';
import { type ContentRecord, isSelected } from './content-record.ts';
import type { ContentShelf, ShelfStatus } from './content-shelf.ts';
import { pack, unpack } from './packed.ts';
import { Sealer } from './sealer.ts';

export interface DiskShelfOptions {
  file: string;
  /** 32 bytes. */
  key: Uint8Array;
  numbers: ContentNumbers;
  /** Replaces the free space of the disk, for tests. */
  freeBytes?: (() => number) | undefined;
}

/** How long parts and records are kept, and how many bytes the file may have. */
export interface DiskBounds {
  days: number;
  bytes: number;
}

/** What is kept with less free space than this is nothing: the ledger needs the rest. */
const freeBytesMin = 512 * 1024 * 1024;
const freeCheckMs = 5_000;
/** The last use of a part is written again after this long. */
const useMs = 1_000;
const dayMs = 86_400_000;
const knownPartsMax = 8_192;
const openRecordsMax = 512;
const pageRows = 64;
/** Rows that one step of pruning deletes, and the share of all records where the file is too large. */
const stepRows = 500;
const stepShare = 1 / 64;
/** Free pages that the file keeps. */
const freePagesMax = 256;
const checkText = 'gateway content';

interface PartRow {
  number: number;
  sealed: Buffer;
}

interface KnownPart {
  id: number;
  lastUse: number;
}

/** The disk has too little space left for content. */
export class NoSpaceForContent extends Error {
  constructor() {
    super('the disk is nearly full');
    this.name = 'NoSpaceForContent';
  }
}

/** Keeps the content of calls in a file of its own, encrypted. Nothing but content depends on it. */
export class DiskShelf implements ContentShelf {
  readonly #file: string;
  readonly #inode: number;
  readonly #database: Database.Database;
  readonly #sealer: Sealer;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #freeBytes: () => number;
  /** Of parts that were used just now, the oldest first. */
  readonly #known = new Map<string, KnownPart>();
  /** Records of calls that are not over, by request. */
  readonly #open = new Map<string, ContentRecord>();
  #freeCheckedAt = Number.NEGATIVE_INFINITY;
  #hasSpace = true;

  /** Throws `ContentFileUnusable` or an error of SQLite for a file that cannot be read. */
  constructor({ file, key, numbers, freeBytes }: DiskShelfOptions) {
    this.#file = file;
    this.#sealer = new Sealer(key);
    this.#freeBytes = freeBytes ?? (() => freeBytesOf(file));
    this.#database = openContentFile(file);
    try {
      this.#inode = statSync(file).ino;
      this.#statements = prepare(this.#database);
      this.#checkKey();
      numbers.continueAfter(this.#statements.lastNumber.get()?.number ?? 0);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Whether the file is still where it was opened. */
  get isInPlace(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  get isEmpty(): boolean {
    return this.#statements.lastNumber.get() === undefined;
  }

  /** Stores what `work` stores, all or nothing. Throws `NoSpaceForContent` before the disk is full. */
  together(work: () => void): void {
    if (!this.#hasEnoughSpace()) throw new NoSpaceForContent();
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#known.clear();
      this.#open.clear();
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  status(workspaceId: string): ShelfStatus {
    const oldest = this.#statements.oldestOf.get(workspaceId);
    const oldestAt = (oldest && this.#read(oldest.sealed)?.at) ?? null;
    return { calls: this.count(workspaceId), bytes: this.#bytes(), oldestAt };
  }

  count(workspaceId: string): number {
    return this.#statements.count.get(workspaceId)?.count ?? 0;
  }

  usePart(digest: string, number: number): number | undefined {
    const part = this.#known.get(digest) ?? this.#statements.findPart.get(digest);
    if (part === undefined) return undefined;
    this.#known.delete(digest);
    if (number - part.lastUse > numberAt(useMs)) {
      this.#statements.usePart.run(number, part.id);
      part.lastUse = number;
    }
    this.#remember(digest, part);
    return part.id;
  }

  addPart(digest: string, packed: Uint8Array, number: number): number {
    const sealed = this.#sealer.seal(packed);
    const { lastInsertRowid } = this.#statements.addPart.run(digest, number, sealed);
    const id = Number(lastInsertRowid);
    this.#statements.addUse.run(id, number);
    this.#remember(digest, { id, lastUse: number });
    return id;
  }

  part(id: number): { packed: Buffer; number: number } | undefined {
    const row = this.#statements.part.get(id);
    const packed = row && this.#opened(row.sealed);
    return packed && { packed, number: row.number };
  }

  hasPart(id: number): boolean {
    return this.#statements.hasPart.get(id) !== undefined;
  }

  replacePart(id: number, packed: Uint8Array): void {
    this.#statements.replacePart.run(`replaced ${id}`, this.#sealer.seal(packed), id);
    this.#known.clear();
  }

  save(record: ContentRecord): void {
    const { number, requestId, workspaceId } = record;
    const sealed = this.#sealer.seal(pack(Buffer.from(JSON.stringify(record))));
    this.#statements.save.run(number, requestId, workspaceId, sealed);
    if (record.isComplete) this.#open.delete(requestId);
    else this.#open.set(requestId, record);
    if (this.#open.size > openRecordsMax) deleteOldest(this.#open);
  }

  find(requestId: string): ContentRecord | undefined {
    const open = this.#open.get(requestId);
    if (open) return open;
    const row = this.#statements.find.get(requestId);
    return row && this.#read(row.sealed);
  }

  wasDeleted(requestId: string): boolean {
    return this.#statements.wasDeleted.get(requestId) !== undefined;
  }

  requestAt(number: number): string | undefined {
    return this.#statements.requestAt.get(number)?.request_id;
  }

  *newestFirst(workspaceId: string, before = Number.MAX_SAFE_INTEGER): Iterable<ContentRecord> {
    let next = before;
    for (;;) {
      const rows = this.#statements.newest.all(workspaceId, next, pageRows);
      for (const { number, sealed } of rows) {
        next = number;
        const record = this.#read(sealed);
        if (record) yield record;
      }
      if (rows.length < pageRows) return;
    }
  }

  remove({ number }: ContentRecord): void {
    this.#forget([number]);
    this.#eraseDeleted();
  }

  clear(selection: ContentSelection): number {
    const numbers: number[] = [];
    for (const record of this.newestFirst(selection.workspaceId))
      if (isSelected(record, selection)) numbers.push(record.number);
    for (let at = 0; at < numbers.length; at += stepRows) this.#forget(numbers.slice(at, at + stepRows));
    if (numbers.length > 0) this.#eraseDeleted();
    return numbers.length;
  }

  /** Deletes some of what is older than it may be, or too much; returns whether there may be more. */
  pruneStep(now: number, { days, bytes }: DiskBounds): boolean {
    if (this.#deleteUnused() || this.#shrink(stepRows)) return true;
    const tooOld = numberAt(now - days * dayMs);
    this.#statements.forgetDeleted.run(tooOld);
    const oldest = this.#statements.oldest.get()?.number;
    if (oldest === undefined) return false;
    const isTooMuch = this.isOver(bytes);
    if (oldest >= tooOld && !isTooMuch) return false;
    const share = Math.ceil((this.#statements.countAll.get()?.count ?? 0) * stepShare);
    const last = this.#statements.stepEnd.get(isTooMuch ? share : stepRows)?.number ?? oldest;
    const end = isTooMuch ? last + 1 : Math.min(tooOld, last + 1);
    this.#change(() => this.#statements.forgetBefore.run(end));
    this.#open.clear();
    return true;
  }

  isOver(bytes: number): boolean {
    return this.#bytes() > bytes;
  }

  close(): void {
    this.#database.close();
  }

  /** Closes and deletes the file. */
  destroy(): void {
    this.#database.close();
    deleteContentFile(this.#file);
  }

  /** Deletes some of the parts that no record has; returns whether there may be more. */
  #deleteUnused(): boolean {
    const firstKept = this.#statements.oldest.get()?.number;
    const unused = firstKept === undefined ? Number.MAX_SAFE_INTEGER : firstKept - numberAt(useMs);
    const ids = this.#statements.unused.all(unused, stepRows);
    this.#change(() => {
      for (const { id } of ids) {
        this.#statements.deletePart.run(id);
        this.#statements.deleteUse.run(id);
      }
    });
    this.#known.clear();
    return ids.length === stepRows;
  }

  #forget(numbers: readonly number[]): void {
    this.#change(() => {
      for (const number of numbers) {
        this.#statements.setDeleted.run(number);
        this.#statements.deleteUses.run(number);
        this.#statements.deleteParts.run(number);
        this.#statements.forget.run(number);
      }
    });
    this.#known.clear();
    this.#open.clear();
  }

  /** Makes sure that no byte of what was deleted is left in the files. */
  #eraseDeleted(): void {
    while (this.#shrink(10_000));
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
  }

  /** Gives free pages back to the file system; returns whether there are more. */
  #shrink(pages: number): boolean {
    if (this.#pages('freelist_count') <= freePagesMax) return false;
    this.#database.pragma(`incremental_vacuum(${pages})`);
    return this.#pages('freelist_count') > freePagesMax;
  }

  #change<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }

  #bytes(): number {
    return (this.#pages('page_count') - this.#pages('freelist_count')) * this.#pages('page_size');
  }

  #pages(name: 'page_count' | 'freelist_count' | 'page_size'): number {
    return this.#database.pragma(name, { simple: true }) as number;
  }

  #read(sealed: Buffer): ContentRecord | undefined {
    const packed = this.#opened(sealed);
    return packed && JSON.parse(unpack(packed).toString());
  }

  /** Undefined for what was changed in the file: the rest of it is not lost. */
  #opened(sealed: Buffer): Buffer | undefined {
    try {
      return this.#sealer.open(sealed);
    } catch {
      return undefined;
    }
  }

  #remember(digest: string, part: KnownPart): void {
    this.#known.set(digest, part);
    if (this.#known.size > knownPartsMax) deleteOldest(this.#known);
  }

  #hasEnoughSpace(): boolean {
    const now = performance.now();
    if (now - this.#freeCheckedAt < freeCheckMs) return this.#hasSpace;
    this.#freeCheckedAt = now;
    this.#hasSpace = this.#freeBytes() >= freeBytesMin;
    return this.#hasSpace;
  }

  /** Another key opens nothing: what is in the file is lost. */
  #checkKey(): void {
    const row = this.#statements.meta.get('check');
    if (row === undefined) {
      this.#statements.setMeta.run('check', this.#sealer.seal(Buffer.from(checkText)));
      return;
    }
    try {
      this.#sealer.open(row.value);
    } catch (cause) {
      throw new ContentFileUnusable('it was written with another key', { cause });
    }
  }
}

function prepare(database: Database.Database) {
  const one = <Row, Values extends unknown[]>(sql: string) => database.prepare<Values, Row>(sql);
  return {
    meta: one<{ value: Buffer }, [string]>('SELECT value FROM meta WHERE name = ?'),
    setMeta: one<never, [string, Buffer]>('INSERT INTO meta (name, value) VALUES (?, ?)'),
    findPart: one<KnownPart, [string]>(
      'SELECT id, last_use AS lastUse FROM parts JOIN uses USING (id) WHERE digest = ?',
    ),
    usePart: one<never, [number, number]>('UPDATE uses SET last_use = ? WHERE id = ?'),
    addPart: one<never, [string, number, Buffer]>(
      'INSERT INTO parts (digest, number, sealed) VALUES (?, ?, ?)',
    ),
    addUse: one<never, [number, number]>('INSERT INTO uses (id, last_use) VALUES (?, ?)'),
    part: one<PartRow, [number]>('SELECT number, sealed FROM parts WHERE id = ?'),
    hasPart: one<unknown, [number]>('SELECT 1 FROM parts WHERE id = ?'),
    replacePart: one<never, [string, Buffer, number]>('UPDATE parts SET digest = ?, sealed = ? WHERE id = ?'),
    deleteParts: one<never, [number]>('DELETE FROM parts WHERE number = ?'),
    deleteUses: one<never, [number]>('DELETE FROM uses WHERE id IN (SELECT id FROM parts WHERE number = ?)'),
    unused: one<{ id: number }, [number, number]>(
      'SELECT id FROM uses WHERE last_use < ? ORDER BY id LIMIT ?',
    ),
    deletePart: one<never, [number]>('DELETE FROM parts WHERE id = ?'),
    deleteUse: one<never, [number]>('DELETE FROM uses WHERE id = ?'),
    save: one<never, [number, string, string, Buffer]>(
      `INSERT INTO captures (number, request_id, workspace_id, sealed) VALUES (?, ?, ?, ?)
       ON CONFLICT (number) DO UPDATE SET sealed = excluded.sealed`,
    ),
    find: one<{ sealed: Buffer }, [string]>(
      'SELECT sealed FROM captures WHERE request_id = ? ORDER BY number DESC LIMIT 1',
    ),
    requestAt: one<{ request_id: string }, [number]>('SELECT request_id FROM captures WHERE number = ?'),
    newest: one<{ number: number; sealed: Buffer }, [string, number, number]>(
      `SELECT number, sealed FROM captures WHERE workspace_id = ? AND number < ?
       ORDER BY number DESC LIMIT ?`,
    ),
    wasDeleted: one<{ number: number }, [string]>('SELECT number FROM deleted WHERE request_id = ?'),
    setDeleted: one<never, [number]>(
      `INSERT INTO deleted (request_id, number) SELECT request_id, number FROM captures WHERE number = ?
       ON CONFLICT (request_id) DO NOTHING`,
    ),
    forgetDeleted: one<never, [number]>('DELETE FROM deleted WHERE number < ?'),
    forget: one<never, [number]>('DELETE FROM captures WHERE number = ?'),
    forgetBefore: one<never, [number]>('DELETE FROM captures WHERE number < ?'),
    stepEnd: one<{ number: number }, [number]>(
      'SELECT max(number) AS number FROM (SELECT number FROM captures ORDER BY number LIMIT ?)',
    ),
    oldest: one<{ number: number }, []>('SELECT number FROM captures ORDER BY number LIMIT 1'),
    lastNumber: one<{ number: number }, []>('SELECT number FROM captures ORDER BY number DESC LIMIT 1'),
    oldestOf: one<{ sealed: Buffer }, [string]>(
      'SELECT sealed FROM captures WHERE workspace_id = ? ORDER BY number LIMIT 1',
    ),
    countAll: one<{ count: number }, []>('SELECT count(*) AS count FROM captures'),
    count: one<{ count: number }, [string]>('SELECT count(*) AS count FROM captures WHERE workspace_id = ?'),
  };
}

function freeBytesOf(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}

function deleteOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
