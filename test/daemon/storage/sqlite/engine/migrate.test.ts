import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  DataNeedsRepair,
  UnsupportedSchema,
} from '../../../../../src/daemon/storage/sqlite/engine/errors.ts';
import { type Migration, migrate } from '../../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { migrations } from '../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { prepareDatabase } from '../../../../../src/daemon/storage/sqlite/prepare-database.ts';
import { morning } from '../../../../storage/records.ts';
import { emptyDatabaseOf39 } from '../../../../support/schema-39.ts';
import { openTemporarily, recordingLog } from '../temporary.ts';

const released = migrations;
const version = released.at(-1)?.version ?? 0;

const { newFolder, cleanUp } = openTemporarily();
let folder: string;
let file: string;
beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'gateway.db');
});
afterEach(cleanUp);

const prepare = (steps: readonly Migration[]) =>
  prepareDatabase({ file, now: () => morning, log: recordingLog(), migrations: steps }).close();

/** A database of the released schema with a workspace, a key and its child. */
function filled(): void {
  prepare(released);
  const database = new Database(file);
  database.exec(`
    INSERT INTO workspaces (id, slug, name, created_at) VALUES ('ws_1', 'home', 'Home', 0);
    INSERT INTO keys (id, workspace_id, owner_id, parent_id, name, digest, hint, scopes, created_at)
      VALUES ('key_1', 'ws_1', 'usr_1', NULL, 'a', 'd1', 'h', '[]', 0),
        ('key_2', 'ws_1', 'usr_1', 'key_1', 'b', 'd2', 'h', '[]', 0);`);
  database.close();
}

const next = (step: Partial<Migration>): Migration[] => [
  ...released,
  { version: version + 1, statements: [], rows: {}, ...step },
];

const read = (sql: string, path = file): unknown => {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare(sql).pluck().all();
  } finally {
    database.close();
  }
};

const rebuild = (rowsKept: string) => [
  'CREATE TABLE new_workspaces (id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, created_at INTEGER NOT NULL, members_may_issue_keys INTEGER NOT NULL, capture TEXT, note TEXT) STRICT, WITHOUT ROWID',
  `INSERT INTO new_workspaces SELECT *, NULL FROM workspaces ${rowsKept}`,
  'DROP TABLE workspaces',
  'ALTER TABLE new_workspaces RENAME TO workspaces',
];

describe('a migration', () => {
  test('may rebuild a table that others refer to, and loses nothing', () => {
    filled();
    prepare(next({ statements: rebuild('') }));
    expect(read('SELECT id FROM keys ORDER BY id')).toEqual(['key_1', 'key_2']);
    expect(read('SELECT note FROM workspaces')).toEqual([null]);
    expect(read('PRAGMA user_version')).toEqual([version + 1]);
  });

  test('is preceded by a backup that only this user can read', () => {
    filled();
    prepare(next({ statements: ['ALTER TABLE workspaces ADD COLUMN note TEXT'] }));
    const copies = readdirSync(join(folder, 'backups'));
    expect(copies).toEqual([`gateway-v${version}-2026-11-21T08-00-00.000Z.db`]);
    const copy = join(folder, 'backups', copies[0] ?? '');
    expect(read('SELECT id FROM keys ORDER BY id', copy)).toEqual(['key_1', 'key_2']);
    if (process.platform !== 'win32') expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  test('deletes the partial file of an interrupted backup', () => {
    filled();
    const half = join(folder, 'backups', `gateway-v${version}.partial`);
    mkdirSync(join(folder, 'backups'));
    writeFileSync(half, 'half a database');
    prepare(next({ statements: ['ALTER TABLE workspaces ADD COLUMN note TEXT'] }));
    const [copy = '', ...others] = readdirSync(join(folder, 'backups'));
    expect(others).toEqual([]);
    expect(read('PRAGMA integrity_check', join(folder, 'backups', copy))).toEqual(['ok']);
  });

  test.each<[string, Partial<Migration>, string]>([
    ['breaks', { statements: ['DELETE FROM meta', 'SELECT no_such_function()'] }, 'no_such_function'],
    [
      'drops rows that it did not declare',
      { statements: ["DELETE FROM keys WHERE id = 'key_2'"] },
      'keys by -1',
    ],
    ['declares dropped rows that it keeps', { statements: [], rows: { keys: -1 } }, 'keys by 0'],
    [
      'leaves dangling references',
      { statements: rebuild('WHERE false'), rows: { workspaces: -1 } },
      'references',
    ],
  ])('that %s is rolled back', (_what, step, message) => {
    filled();
    const before = contents();
    expect(() => prepare(next(step))).toThrow(message);
    expect(contents()).toEqual(before);
    // The released program can still open the file.
    prepare(released);
  });

  test('may add and drop rows as declared', () => {
    filled();
    const statements = ["DELETE FROM keys WHERE id = 'key_2'", "INSERT INTO meta VALUES ('last_event', 7)"];
    prepare(next({ statements, rows: { keys: -1, meta: 1 } }));
    expect(read('SELECT id FROM keys')).toEqual(['key_1']);
  });

  test('leaves foreign keys on', () => {
    const database = emptyDatabaseOf39();
    database.pragma('foreign_keys = ON');
    migrate(database, migrations);
    expect(database.pragma('foreign_keys', { simple: true })).toBe(1);
  });
});

test('a database with wrong balances is refused before the migration', () => {
  filled();
  const database = new Database(file);
  database.exec("INSERT INTO accounts VALUES ('margin', 5)");
  database.close();
  expect(() => prepare(next({ statements: ['CREATE TABLE more (id TEXT) STRICT'] }))).toThrow(
    DataNeedsRepair,
  );
  expect(read('PRAGMA user_version')).toEqual([version]);
  expect(readdirSync(folder)).not.toContain('backups');
});

test('a database with a newer schema is refused unchanged', () => {
  prepare(next({ statements: ['CREATE TABLE future (id TEXT) STRICT'] }));
  const before = readFileSync(file);
  expect(() => prepare(released)).toThrow(UnsupportedSchema);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('an interrupted first start is repeated from scratch', () => {
  const half = new Database(`${file}.new`);
  half.exec('CREATE TABLE keys (nonsense)');
  half.close();
  prepare(released);
  expect(read('SELECT count(*) FROM keys')).toEqual([0]);
  expect(readdirSync(folder)).not.toContain('gateway.db.new');
});

function contents(): unknown {
  return ['sqlite_schema', 'workspaces', 'keys'].map((table) => {
    const database = new Database(file, { readonly: true });
    const rows = database.prepare(`SELECT * FROM ${table}`).all();
    database.close();
    return rows;
  });
}
