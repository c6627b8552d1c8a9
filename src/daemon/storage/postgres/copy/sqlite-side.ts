import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { commitCountFile, requireAllCommits } from '../../sqlite/engine/commit-count.ts';
import { type Connection, openForReading } from '../../sqlite/engine/connection.ts';
import { checkHeader, createIfMissing, fsyncPath } from '../../sqlite/engine/database-file.ts';
import { DataNeedsRepair } from '../../sqlite/engine/errors.ts';
import { referenceProblems } from '../../sqlite/engine/integrity.ts';
import { readMeta, removeMeta, writeMeta } from '../../sqlite/engine/meta.ts';
import { needsMigration } from '../../sqlite/engine/migrate.ts';
import { migrations } from '../../sqlite/engine/migrations/index.ts';
import { newestSchema } from '../../sqlite/engine/migrations/newest-schema.ts';
import { walDamage } from '../../sqlite/engine/wal-damage.ts';
import { requireFile } from '../../sqlite/guard/file-kind.ts';
import { requireFinishedCopy } from '../../sqlite/mark-open.ts';
import { verifyLedger } from '../../sqlite/metering/verify/verify-ledger.ts';
import type { CopiedTable } from './copied-tables.ts';
import { CopyRefused } from './copy-refused.ts';
import {
  type CopySide,
  type CopyTarget,
  countsOf,
  exceptMark,
  progressTable,
  quoted,
  selection,
  sourceName,
  type Take,
} from './copy-side.ts';
import { lineOf, type SqliteValue, valuesOf } from './row-text.ts';

/** Lines are passed on together. */
const chunkLength = 64 * 1024;

class SqliteSide implements CopySide {
  protected readonly database: Connection;

  constructor(database: Connection) {
    this.database = database;
  }

  async counts(tables: readonly CopiedTable[]): Promise<Map<string, number>> {
    const row = this.database.prepare<[], Record<string, number>>(countsOf(tables)).get();
    return new Map(Object.entries(row ?? {}));
  }

  async read(table: CopiedTable, take: Take): Promise<void> {
    const types = table.columns.map(({ type }) => type);
    const rows = this.database
      .prepare<[], SqliteValue[]>(`SELECT ${selection(table)} ORDER BY ${table.key.map(quoted).join(', ')}`)
      .raw()
      .iterate();
    let text = '';
    for (const row of rows) {
      text += lineOf(row, types);
      if (text.length < chunkLength) continue;
      await take(Buffer.from(text));
      text = '';
    }
    if (text !== '') await take(Buffer.from(text));
  }

  async numbers(): Promise<Map<string, number>> {
    const select = this.database.prepare<[], [string, number]>('SELECT name, seq FROM sqlite_sequence');
    const used = new Map(select.raw().all());
    // Those of users are never deleted.
    const users = this.database.prepare<[], number | null>('SELECT max(number) FROM users').pluck().get();
    return users ? used.set('users', users) : used;
  }

  async close(): Promise<void> {
    this.database.close();
  }
}

/**
 * Opens `gateway.db` of a data folder whose lock the caller holds, to be copied. Throws `DataNeedsRepair`, `UnsupportedSchema`, `UnfinishedCopy`
 * or `CopyRefused`.
 */
export function openSqliteSource(file: string): CopySide {
  for (const path of [file, `${file}-wal`, `${file}-shm`, commitCountFile(file)]) requireFile(path);
  checkHeader(file);
  const damage = walDamage(file);
  if (damage !== undefined) throw new DataNeedsRepair(file, damage);
  const database = openForReading(file);
  try {
    if (needsMigration(database, migrations)) {
      throw new CopyRefused(
        `${file} was written by an earlier version: start this version with it once, stop it, and copy again.`,
      );
    }
    requireAllCommits(database);
    requireFinishedCopy(database);
    // One snapshot.
    database.exec('BEGIN');
    return new SqliteSide(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

class SqliteTarget extends SqliteSide implements CopyTarget {
  async begin(mark: string): Promise<Map<string, string>> {
    const { database } = this;
    return database.transaction(() => {
      database.exec(
        `CREATE TABLE IF NOT EXISTS ${progressTable} (name TEXT PRIMARY KEY, digest TEXT NOT NULL) STRICT`,
      );
      const select = database.prepare<[], [string, string]>(`SELECT name, digest FROM ${progressTable}`);
      const digests = new Map(select.raw().all());
      const begun = digests.get(sourceName) ?? mark;
      if (begun !== mark) throw anotherSource(database.name);
      digests.delete(sourceName);
      writeMeta(database, 'unfinished_copy', 1);
      this.#keep(sourceName, mark);
      return digests;
    })();
  }

  async fill(table: CopiedTable, _rows: number, feed: (write: Take) => Promise<string>): Promise<void> {
    const { database } = this;
    const types = table.columns.map(({ type }) => type);
    // Built after the rows, an index is written in order; triggers have done their work in the source.
    const built = database
      .prepare<[string], { type: string; name: string; sql: string }>(
        "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
      )
      .all(table.name);
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { type, name } of built) database.exec(`DROP ${type} ${quoted(name)}`);
      database.exec(`DELETE FROM ${quoted(table.name)}${exceptMark(table.name)}`);
      const names = table.columns.map(({ name }) => quoted(name));
      const insert = database.prepare<SqliteValue[]>(
        `INSERT INTO ${quoted(table.name)} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      );
      const digest = await feed((lines) => {
        const text = lines.toString();
        for (const line of text.slice(0, -1).split('\n')) insert.run(...valuesOf(line, types));
      });
      for (const { sql } of built) database.exec(sql);
      this.#keep(table.name, digest);
      database.exec('COMMIT');
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  async problems(): Promise<string[]> {
    const { problems } = await verifyLedger(this.database, () => {});
    return [...referenceProblems(this.database).map((problem) => `${problem}.`), ...problems];
  }

  async finish(numbers: ReadonlyMap<string, number>): Promise<void> {
    const { database } = this;
    const update = database.prepare<[number, string]>(
      'UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?',
    );
    const insert = database.prepare<[string, number, string]>(
      `INSERT INTO sqlite_sequence (name, seq) SELECT ?, ?
       WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%')`,
    );
    database.transaction(() => {
      for (const [table, number] of numbers)
        if (update.run(number, table).changes === 0) insert.run(table, number, table);
      database.exec(`DROP TABLE ${progressTable}`);
      removeMeta(database, 'unfinished_copy');
    })();
    fsyncPath(database.name);
    fsyncPath(dirname(database.name));
  }

  #keep(name: string, digest: string): void {
    this.database
      .prepare(`INSERT INTO ${progressTable} (name, digest) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`)
      .run(name, digest);
  }
}

/**
 * Creates the database of a data folder whose lock the caller holds, or opens one to which a copy is unfinished. Throws `CopyRefused`
 * if it has data.
 */
export function openSqliteTarget(file: string, now: number): CopyTarget {
  requireFile(file);
  createIfMissing(file, newestSchema, now);
  checkHeader(file);
  chmodSync(file, 0o600);
  const database = new Database(file, { fileMustExist: true });
  try {
    if (readMeta(database, 'unfinished_copy') === undefined && hasData(database))
      throw new CopyRefused(`${file} has data already. Choose an empty folder, or move the file away.`);
    if (needsMigration(database, migrations)) throw anotherVersion(file);
    // What a transaction appends is not written twice, as it would be by a write-ahead log.
    for (const setting of [
      'trusted_schema = 0',
      'journal_mode = DELETE',
      'synchronous = FULL',
      'foreign_keys = OFF',
      'cache_size = -65536',
    ])
      database.pragma(setting);
    return new SqliteTarget(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A daemon has been started with it. */
function hasData(database: Connection): boolean {
  return (
    database
      .prepare(
        "SELECT 1 FROM daemons WHERE number > 0 UNION ALL SELECT 1 FROM meta WHERE name = 'last_daemon'",
      )
      .get() !== undefined
  );
}

function anotherSource(file: string): CopyRefused {
  return new CopyRefused(
    `${file} is an unfinished copy of another source, or the source has changed since. Delete it, and copy again.`,
  );
}

function anotherVersion(file: string): CopyRefused {
  return new CopyRefused(`${file} is an unfinished copy of another version. Delete it, and copy again.`);
}
