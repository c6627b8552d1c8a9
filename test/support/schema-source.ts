import type Database from 'better-sqlite3';
import { migrate, type NewSchema, schemaVersion } from '../../src/daemon/storage/sqlite/engine/migrate.ts';
import { migrations } from '../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { emptyDatabaseOf39 } from './schema-39.ts';

export const schemaFile = 'src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';

const header = `// Generated from the migrations by \`npm run schema\`.
// biome-ignore-all format: generated
import type { NewSchema } from '../migrate.ts';

/** What the migrations make of an empty database. */
`;

/** What the migrations make of an empty database, as a module. */
export function schemaSource(): string {
  const { version, statements } = migratedSchema();
  const texts = statements.map((statement) => `    \`${statement.replace(/[\\`$]/g, '\\$&')}\`,\n`);
  return `${header}export const newestSchema: NewSchema = {\n  version: ${version},\n  statements: [\n${texts.join('')}  ],\n};\n`;
}

function migratedSchema(): NewSchema {
  const database = emptyDatabaseOf39();
  migrate(database, migrations);
  const objects = database
    .prepare<[], { name: string; type: string; sql: string }>(
      "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY rowid",
    )
    .all();
  const tables = objects.filter(({ type }) => type === 'table').map(({ name }) => name);
  const inserts = tables.flatMap((table) => insertsOf(database, table));
  return { version: schemaVersion(database), statements: [...objects.map(({ sql }) => sql), ...inserts] };
}

/** The rows that the migrations insert. */
function insertsOf(database: Database.Database, table: string): string[] {
  const columns = database
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
    .pluck()
    .all(table)
    .map((name) => `"${name}"`);
  return database
    .prepare<[], string>(
      `SELECT concat_ws(', ', ${columns.map((column) => `quote(${column})`).join(', ')}) FROM "${table}"`,
    )
    .pluck()
    .all()
    .map((values) => `INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${values})`);
}
