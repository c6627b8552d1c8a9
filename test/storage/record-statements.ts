import Database from 'better-sqlite3';
import type { Connection } from '../../src/daemon/storage/sqlite/engine/connection.ts';

/** Reports every statement that this thread prepares, once, until the returned function is called. */
export function recordStatements(onStatement: (sql: string) => void): () => void {
  const seen = new Set<string>();
  const { prototype } = Database as unknown as { prototype: Connection };
  const prepare = prototype.prepare;
  prototype.prepare = function (this: Connection, sql: string) {
    if (!seen.has(sql)) onStatement(sql);
    seen.add(sql);
    return prepare.call(this, sql);
  } as typeof prepare;
  return () => {
    prototype.prepare = prepare;
  };
}
