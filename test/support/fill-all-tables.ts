import type Database from 'better-sqlite3';
import type { CopiedTable } from '../../src/daemon/storage/postgres/copy/copied-tables.ts';

/** What text formats have to escape. */
const awkward = 'tab\t line\n return\r back\\slash \\N \b\f\v “é😀”';
const withNul = `${awkward} \0 \uFDD0`;
const fractions = [0.1, 1e-7, 123_456.789, 1e21, 2e15, 5];

/** Inserts rows into each table: one with NULL wherever it may be, and one without where the schema allows it. */
export function fillAllTables(database: Database.Database, tables: readonly CopiedTable[]): void {
  for (const table of tables) {
    const { sql } = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table.name) as {
      sql: string;
    };
    const columns = database.prepare('SELECT * FROM pragma_table_info(?)').all(table.name) as {
      name: string;
      type: string;
      notnull: number;
      pk: number;
    }[];
    const parents = new Map(
      (
        database.prepare('SELECT * FROM pragma_foreign_key_list(?)').all(table.name) as {
          from: string;
          table: string;
          to: string;
        }[]
      ).map((key) => [key.from, key]),
    );
    for (const row of [1, 2]) {
      const values = columns.map(({ name, type, notnull, pk }, index) => {
        if (row === 1 && !notnull && pk === 0) return null;
        const parent = parents.get(name);
        if (parent) {
          const order = index % 2 === 0 ? 'ASC' : 'DESC';
          return database
            .prepare(`SELECT "${parent.to}" FROM "${parent.table}" ORDER BY 1 ${order} LIMIT 1`)
            .pluck()
            .get() as string | number | null;
        }
        const [, option] = new RegExp(`CHECK \\(${name} IN \\('([^']+)'`).exec(sql) ?? [];
        if (option !== undefined) return option;
        if (type === 'INTEGER') return pk > 0 ? row : 1;
        if (type === 'REAL') return fractions[(index + row) % fractions.length] ?? 0;
        if (type === 'BLOB') return Buffer.alloc(32, index + row);
        return `${table.name} ${name} ${row} ${pk > 0 ? awkward : withNul}`;
      });
      const places = columns.map(() => '?').join(', ');
      database.prepare(`INSERT OR IGNORE INTO "${table.name}" VALUES (${places})`).run(...values);
    }
  }
}
