import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

const dump = readFileSync(
  new URL('../daemon/storage/sqlite/fixtures/version-39.sql', import.meta.url),
  'utf8',
);

/** A database of schema version 39, the oldest that can be opened, with some records. */
export function databaseOf39(file = ':memory:'): Database.Database {
  const database = new Database(file);
  database.pragma('foreign_keys = OFF');
  database.exec(dump);
  return database;
}

/** The same without records: as it was created. */
export function emptyDatabaseOf39(): Database.Database {
  const filled = databaseOf39();
  const statements = filled
    .prepare<[], string>(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY rowid",
    )
    .pluck()
    .all();
  filled.close();
  const database = new Database(':memory:');
  for (const statement of statements) database.exec(statement);
  database.exec(`
    INSERT INTO meta (name, value) VALUES ('checkpoint_link', 0), ('first_event', 1), ('folded_to', 0);
    INSERT INTO ledger_chain (number, entries, total, hash) VALUES (0, '[]', 0, zeroblob(32));
    INSERT INTO names (number, text) VALUES
      (1, 'completed'), (2, 'incomplete'), (3, 'failed'), (4, 'canceled'), (5, 'interrupted');
    PRAGMA user_version = 39;
  `);
  return database;
}
