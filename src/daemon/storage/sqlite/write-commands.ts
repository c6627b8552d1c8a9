import type { Connection } from './engine/connection.ts';
import type { CommandSource } from './engine/serve-writes.ts';
import { BatchTotals } from './ledger/batch-totals.ts';
import { meteringWrites } from './metering/writes.ts';
import type { otherWrites } from './other-writes.ts';
import { responseInsert } from './responses/response-insert.ts';

/** The writes of model calls, which need no Drizzle; the others are loaded with the first of them, as Drizzle loads slowly. */
export function createCommands(database: Connection): CommandSource {
  const totals = new BatchTotals(database);
  return {
    commands: hotWrites(database, totals),
    loadMore: async () => (await import('./other-writes.ts')).otherWrites(database, totals),
    totals,
  };
}

function hotWrites(database: Connection, totals: BatchTotals) {
  return { ...meteringWrites(database, totals), ...responseInsert(database) };
}

/** All writes by name. They take plain data; their results are returned after COMMIT. */
export type WriteCommands = ReturnType<typeof hotWrites> & ReturnType<typeof otherWrites>;
