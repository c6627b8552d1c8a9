import { readFile } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createSchema, migrate } from '../../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { migrations } from '../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { newestSchema } from '../../../../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';
import { emptyDatabaseOf39 } from '../../../../support/schema-39.ts';
import { schemaFile, schemaSource } from '../../../../support/schema-source.ts';

test('the generated schema matches the migrations', async () => {
  expect(await readFile(schemaFile, 'utf8'), 'run: npm run schema').toBe(schemaSource());
});

/** Everything in a database, and its version. */
function contentsOf(database: Database.Database) {
  const all = (query: string) => database.prepare<[], { name: string; sql: string }>(query).all();
  const objects = all('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid');
  const tables = all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const rows = tables.map(({ name }) => [name, all(`SELECT * FROM "${name}"`)]);
  return { objects, rows, version: database.pragma('user_version', { simple: true }) };
}

test('a new database has what the migrations make of an empty old one', () => {
  const [migrated, created] = [emptyDatabaseOf39(), new Database(':memory:')];
  migrate(migrated, migrations);
  createSchema(created, newestSchema);
  expect(contentsOf(created)).toEqual(contentsOf(migrated));
});
