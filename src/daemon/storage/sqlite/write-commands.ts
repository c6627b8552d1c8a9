import { ownDaemon } from './daemons/own-daemon.ts';
import { daemonsWrites } from './daemons/writes.ts';
import type { Connection } from './engine/connection.ts';
import type { CommandSource } from './engine/serve-writes.ts';
import type { featureWrites } from './feature-writes.ts';
import { BatchTotals } from './metering/batch-totals.ts';
import { meteringWrites } from './metering/writes.ts';
import { responseInsert } from './responses/response-insert.ts';

/** The writes of one daemon: those of model calls and of the start, which need no Drizzle; the others are loaded with the first of them, as Drizzle loads slowly. */
export function createCommands(database: Connection, daemon = ownDaemon(database)): CommandSource {
  const totals = new BatchTotals(database);
  return {
    commands: callWrites(database, totals, daemon),
    loadMore: async () => (await import('./feature-writes.ts')).featureWrites(database, totals, daemon),
    totals,
  };
}

function callWrites(database: Connection, totals: BatchTotals, daemon: number) {
  return {
    ...meteringWrites(database, totals, daemon),
    ...responseInsert(database),
    ...daemonsWrites(database, daemon),
  };
}

/** All writes by name. They take plain data; their results are returned after COMMIT. */
export type WriteCommands = ReturnType<typeof callWrites> & ReturnType<typeof featureWrites>;
