import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const core = require('drizzle-orm') as typeof import('drizzle-orm');
const columns = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');
const driver = require('drizzle-orm/better-sqlite3') as typeof import('drizzle-orm/better-sqlite3');

// Drizzle's CommonJS build: Node parses the package's large package.json again for each of its hundred ES modules,
// which takes ten times as long at start and two hundred megabytes.
export const { and, asc, desc, eq, gt, inArray, isNull, lt, lte, min, ne, or, sql } = core;
export const { blob, integer, primaryKey, sqliteTable, text } = columns;
export const { drizzle } = driver;

/** A connection with drizzle around it; every query runs at once, in the calling thread. */
export type Orm = import('drizzle-orm/better-sqlite3').BetterSQLite3Database;
