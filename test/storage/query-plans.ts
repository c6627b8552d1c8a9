import Database from 'better-sqlite3';
import type { Connection } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { tableNames } from '../../src/daemon/storage/sqlite/engine/integrity.ts';

/** Records every statement that this thread prepares until `stop`. */
export function recordStatements(): { statements: ReadonlySet<string>; stop: () => void } {
  const statements = new Set<string>();
  const { prototype } = Database as unknown as { prototype: Connection };
  const prepare = prototype.prepare;
  prototype.prepare = function (this: Connection, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  } as typeof prepare;
  const stop = () => {
    prototype.prepare = prepare;
  };
  return { statements, stop };
}

interface Scan {
  table: string;
  sql: string;
}

/** The tables that a statement reads from one end to the other, by the plan of SQLite. */
export function scansOf(database: Connection, sql: string): Scan[] {
  if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|REPLACE)\b/i.test(sql)) return [];
  const tables = new Set(tableNames(database));
  const unquoted = sql.replaceAll(/'[^']*'/g, '');
  const named = Object.fromEntries(
    [...unquoted.matchAll(/[@:$](\w+)/g)].map(([, name = '']) => [name, null]),
  );
  const positional = [...unquoted.matchAll(/\?/g)].map(() => null);
  const steps = database
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...positional, ...(Object.keys(named).length > 0 ? [named] : []));
  return steps.flatMap(({ detail }) => {
    const [, name] = /^SCAN ("?[\w]+"?)/.exec(detail) ?? [];
    const table = name && tableOf(name.replaceAll('"', ''), sql, tables);
    return table === undefined || !tables.has(table) ? [] : [{ table, sql }];
  });
}

/** Plans name the alias of a table. */
function tableOf(name: string, sql: string, tables: ReadonlySet<string>): string {
  for (const [, table = ''] of sql.matchAll(new RegExp(`\\b(\\w+)"?\\s+(?:AS\\s+)?"?${name}\\b`, 'gi')))
    if (tables.has(table)) return table;
  return name;
}
