import { createRequire } from 'node:module';
import type { Connection } from './connection.ts';

const require = createRequire(import.meta.url);
const core = require('drizzle-orm') as typeof import('drizzle-orm');
const columns = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');
const driver = require('drizzle-orm/better-sqlite3') as typeof import('drizzle-orm/better-sqlite3');

// Drizzle's CommonJS build, because Node parses the large package.json again for each of its hundred ES modules, which
// makes loading ten times slower and takes 200 MB.
export const {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  min,
  ne,
  notExists,
  or,
  sql,
} = core;
export const { getTableColumns: columnsOf } = core;
export const { blob, integer, primaryKey, real, sqliteTable, text } = columns;

/** A Drizzle connection; queries run synchronously in the calling thread. */
export type Orm = import('drizzle-orm/better-sqlite3').BetterSQLite3Database;
export type SQL = import('drizzle-orm').SQL;

/** Wraps a connection. Column names are snake_case in SQL, so tables state them only once, in camelCase. */
export function createOrm(database: Connection): Orm {
  return driver.drizzle(database, { casing: 'snake_case' });
}
