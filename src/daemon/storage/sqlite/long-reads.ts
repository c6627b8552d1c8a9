import { backupReads } from './backups/reads.ts';
import { checkPart, checkParts } from './check-database.ts';
import type { Connection } from './engine/connection.ts';
import { NameTexts } from './engine/names.ts';
import { ledgerReads } from './metering/ledger-reads.ts';
import { meteringReads } from './metering/usage/reads.ts';
import { responsesReads } from './responses/reads.ts';
import { tracesReads } from './traces/reads.ts';
import { filePace } from './traces/scan-calls.ts';

/** Reads of many rows: they run in the reader thread, each in its own snapshot. */
export function longReads(database: Connection, pace = filePace) {
  const names = new NameTexts(database);
  return {
    ...meteringReads(database, names),
    ...ledgerReads(database),
    ...tracesReads(database, names, pace),
    ...responsesReads(database),
    checkParts: () => checkParts(database),
    checkPart: (part: string) => checkPart(database, part),
    ...backupReads(database),
  };
}

export type LongReads = ReturnType<typeof longReads>;
