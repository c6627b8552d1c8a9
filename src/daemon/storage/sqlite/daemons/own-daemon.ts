import { hostname } from 'node:os';
import { version } from '../../../../shared/version.ts';
import type { Connection } from '../engine/connection.ts';

/** The number of the daemon that has the database open: the newest, where only one can. */
export function ownDaemon(database: Connection): number {
  return database.prepare<[], number>('SELECT max(number) FROM daemons').pluck().get() ?? 0;
}

/** Registers the daemon that opens the database alone; the work of all earlier ones becomes its own to finish. Returns its number. */
export function registerDaemon(database: Connection, startedAt: number): number {
  const number = ownDaemon(database) + 1;
  database.prepare('UPDATE daemons SET successor = ?').run(number);
  database
    .prepare('INSERT INTO daemons (number, started_at, name, version) VALUES (?, ?, ?, ?)')
    .run(number, startedAt, hostname(), version);
  return number;
}
