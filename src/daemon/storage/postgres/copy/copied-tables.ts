import Database from 'better-sqlite3';
import { tableNames } from '../../sqlite/engine/integrity.ts';
import { createSchema } from '../../sqlite/engine/migrate.ts';
import { newestSchema } from '../../sqlite/engine/migrations/newest-schema.ts';

export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB';

/** A table that both engines have. */
export interface CopiedTable {
  name: string;
  columns: readonly { name: string; type: ColumnType }[];
  /** The columns by which rows are ordered: the primary key. */
  key: readonly string[];
}

/** All tables of the schema, each after those that it refers to. */
export function copiedTables(): CopiedTable[] {
  const database = new Database(':memory:');
  try {
    createSchema(database, newestSchema);
    const ordered = new Map<string, CopiedTable>();
    const add = (name: string): void => {
      if (ordered.has(name)) return;
      for (const parent of parentsOf(database, name)) if (parent !== name) add(parent);
      ordered.set(name, describe(database, name));
    };
    for (const name of tableNames(database)) add(name);
    return [...ordered.values()];
  } finally {
    database.close();
  }
}

function parentsOf(database: Database.Database, name: string): string[] {
  const select = database.prepare<[string], string>('SELECT "table" FROM pragma_foreign_key_list(?)');
  return select.pluck().all(name);
}

function describe(database: Database.Database, name: string): CopiedTable {
  const columns = database
    .prepare<[string], { name: string; type: ColumnType; pk: number }>(
      'SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid',
    )
    .all(name);
  const inKey = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  if (inKey.length === 0) throw new Error(`the table ${name} has no primary key`);
  return {
    name,
    columns: columns.map((column) => ({ name: column.name, type: column.type })),
    key: inKey.map((column) => column.name),
  };
}
