import { createRequire } from 'node:module';
import Database from 'better-sqlite3';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, test } from 'vitest';
import { migrate } from '../../../../src/daemon/storage/sqlite/migrate.ts';
import { migrations } from '../../../../src/daemon/storage/sqlite/migrations/index.ts';
import * as background from '../../../../src/daemon/storage/sqlite/schema/background.ts';
import { creditGrants } from '../../../../src/daemon/storage/sqlite/schema/credit.ts';
import { events } from '../../../../src/daemon/storage/sqlite/schema/events.ts';
import { idempotencyKeys } from '../../../../src/daemon/storage/sqlite/schema/idempotency.ts';
import { keys } from '../../../../src/daemon/storage/sqlite/schema/keys.ts';
import { meta } from '../../../../src/daemon/storage/sqlite/schema/meta.ts';
import * as metering from '../../../../src/daemon/storage/sqlite/schema/metering.ts';
import { responseItems, responses } from '../../../../src/daemon/storage/sqlite/schema/responses.ts';
import * as site from '../../../../src/daemon/storage/sqlite/schema/site.ts';
import { tokens } from '../../../../src/daemon/storage/sqlite/schema/tokens.ts';
import * as vault from '../../../../src/daemon/storage/sqlite/schema/vault.ts';
import * as workspaces from '../../../../src/daemon/storage/sqlite/schema/workspaces.ts';

const require = createRequire(import.meta.url);
const { getTableConfig } = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');

interface Column {
  name: string;
  type: string;
  notnull: number;
  /** The place in the primary key, from 1; 0 outside it. */
  pk: number;
}

function migrated() {
  const database = new Database(':memory:');
  migrate(database, migrations);
  return database;
}

function tablesOf(database: Database.Database): Record<string, unknown> {
  const tables = database
    .prepare<[], { name: string; strict: number }>('PRAGMA table_list')
    .all()
    .filter(({ name }) => !name.startsWith('sqlite_'));
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
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      notNull: column.notNull || isKey,
      isKey,
    };
  });
  return [name, { isStrict: true, columns: described.sort(byName) }];
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** Written and read by SQL alone. */
const untyped = [
  'cached_answers',
  'ledger_chain',
  'threads',
  'thread_runs',
  'thread_messages',
  'thread_events',
];

test('the typed tables are those that the migrations make, and all are strict', () => {
  const typed = [
    ...[creditGrants, events, idempotencyKeys, keys, meta, responseItems, responses, tokens],
    ...Object.values(background),
    ...Object.values(metering),
    ...Object.values(vault),
    ...Object.values(site),
    ...Object.values(workspaces),
  ];
  const all = Object.entries(tablesOf(migrated()));
  const [plain, others] = [true, false].map((wanted) =>
    all.filter(([name]) => untyped.includes(name) === wanted),
  );
  expect(Object.fromEntries(typed.map(tableOf))).toEqual(Object.fromEntries(others ?? []));
  expect(plain).toEqual(untyped.map(() => [expect.any(String), expect.objectContaining({ isStrict: true })]));
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
