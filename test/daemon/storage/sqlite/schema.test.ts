import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import Database from 'better-sqlite3';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, test } from 'vitest';
import { createSchema } from '../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { newestSchema } from '../../../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';
import { createOrm } from '../../../../src/daemon/storage/sqlite/engine/orm.ts';
import { sqlName } from '../../../../src/daemon/storage/sqlite/engine/row-format.ts';
import { idempotencyKeys, isRunningAt } from '../../../../src/daemon/storage/sqlite/idempotency/store.ts';
import {
  backgroundResponses,
  isRunning,
} from '../../../../src/daemon/storage/sqlite/responses/background-tables.ts';

const require = createRequire(import.meta.url);
const { getTableConfig, SQLiteTable: Table } =
  require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');

const engine = new URL('../../../../src/daemon/storage/sqlite/', import.meta.url);
const schemas: object[] = await Promise.all(
  globSync('**/{store,tables,*-tables}.ts', { cwd: engine }).map(
    (path) => import(new URL(path, engine).href),
  ),
);

interface Column {
  name: string;
  type: string;
  notnull: number;
  /** Position in the primary key, from 1; 0 for other columns. */
  pk: number;
}

function migrated() {
  const database = new Database(':memory:');
  createSchema(database, newestSchema);
  return database;
}

function tablesOf(database: Database.Database): Record<string, unknown> {
  const tables = database
    .prepare<[], { name: string; type: string; strict: number }>('PRAGMA table_list')
    .all()
    .filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'));
  return Object.fromEntries(
    tables.map(({ name, strict }) => [
      name,
      {
        isStrict: strict === 1,
        columns: (database.pragma(`table_info(${name})`) as Column[])
          .map((column) => ({
            name: column.name,
            type: column.type,
            notNull: column.notnull === 1 || column.pk > 0,
            isKey: column.pk > 0,
          }))
          .sort(byName),
      },
    ]),
  );
}

function tableOf(table: SQLiteTable): [string, unknown] {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const keyed = new Set(primaryKeys.flatMap((key) => key.columns.map((column) => column.name)));
  const described = columns.map((column) => {
    const isKey = column.primary || keyed.has(column.name);
    return {
      name: sqlName(column.name),
      type: column.getSQLType().toUpperCase(),
      notNull: column.notNull || isKey,
      isKey,
    };
  });
  return [name, { isStrict: true, columns: described.sort(byName) }];
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** Read and written by the engine before Drizzle is loaded. */
const untyped = ['changes', 'daemons', 'meta', 'ledger_chain'];

test('stores and tables.ts files describe the tables that the migrations create, and all are strict', () => {
  const typed = schemas.flatMap((module) => Object.values(module)).filter((it) => it instanceof Table);
  const all = Object.entries(tablesOf(migrated()));
  const [plain, others] = [true, false].map((wanted) =>
    all.filter(([name]) => untyped.includes(name) === wanted),
  );
  const hint = 'a table is described in its `store.ts` or `tables.ts`, or named in `untyped` of this test';
  expect(Object.fromEntries(typed.map(tableOf)), hint).toEqual(Object.fromEntries(others ?? []));
  expect(plain).toEqual(untyped.map(() => [expect.any(String), expect.objectContaining({ isStrict: true })]));
});

/** What happens to rows that refer to a deleted user: they stay, or profile/writes.ts deletes or ends them. */
const ofPersons: Readonly<Record<string, 'stays' | 'goes' | 'ends'>> = {
  'autopilots.owner': 'ends',
  'autopilots.scheduled_by': 'ends',
  'calls.end_user': 'stays',
  'credit_grants.granted_by': 'stays',
  'invitations.accepted_by': 'stays',
  'invitations.created_by': 'ends',
  'keys.owner_id': 'ends',
  'login_codes.user_id': 'goes',
  'logins.user_id': 'ends',
  'members.user_id': 'goes',
  'payments.resolved_by': 'stays',
  'paywalls.owner': 'ends',
  'paywalls.owner_id': 'ends',
  'rejections.end_user': 'stays',
  'shouts.author': 'goes',
  'tokens.user_id': 'ends',
  'wallet_reconciliations.accepted_by': 'stays',
  'wallets.owner_id': 'stays',
  'whispers.recipient': 'stays',
  'whispers.sender': 'stays',
};

test('every column that refers to a user is handled when the user is deleted', () => {
  const database = migrated();
  const named = Object.keys(tablesOf(database)).flatMap((table) =>
    (database.pragma(`table_info(${table})`) as Column[])
      .filter(({ name }) => /(^|_)(user|owner|author|sender|recipient|by)(_id)?$/.test(name))
      .map(({ name }) => `${table}.${name}`),
  );
  expect(named.sort(), 'decide in `ofPersons` of this test').toEqual(Object.keys(ofPersons));
  const inCode = (name: string) => name.replace(/_./g, ([, letter = '']) => letter.toUpperCase());
  const writes = readFileSync(new URL('profile/writes.ts', engine), 'utf8');
  for (const [place, outcome] of Object.entries(ofPersons)) {
    const [table = ''] = place.split('.');
    if (outcome !== 'stays') expect(writes, place).toMatch(new RegExp(`\\b${inCode(table)}\\b`));
  }
});

test('ledger entries can be neither changed nor deleted', () => {
  const database = migrated();
  database.exec("INSERT INTO entries VALUES ('req_1', 'margin', 'a', 'b', 5, 0)");
  expect(() => database.exec('UPDATE entries SET amount = 6')).toThrow('never changed');
  expect(() => database.exec('DELETE FROM entries')).toThrow('never deleted');
  expect(() => database.exec("INSERT INTO entries VALUES ('req_1', 'margin', 'a', 'b', 5, 0)")).toThrow(
    'UNIQUE',
  );
});

test.each([
  ['background_responses', backgroundResponses, isRunning],
  ['idempotency_keys', idempotencyKeys, isRunningAt(1)],
])('running %s are found by their index, not by a scan of the table', (name, table, condition) => {
  const database = migrated();
  const { sql, params } = createOrm(database).select().from(table).where(condition).toSQL();
  const [plan] = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
  expect(plan?.detail).toBe(`SCAN ${name} USING INDEX ${name}_running`);
});
