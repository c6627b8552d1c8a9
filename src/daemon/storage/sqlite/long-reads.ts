import { type BackupTask, backUp } from './backups/back-up.ts';
import { checkPart, checkParts } from './check-database.ts';
import type { Connection } from './engine/connection.ts';
import { NameTexts } from './engine/names.ts';
import { verifyLedger } from './ledger/verify-ledger.ts';
import { servedDays, summarizeUsage } from './metering/summaries.ts';
import { listResponses } from './responses/list-responses.ts';
import { listRejections } from './traces/list-rejections.ts';
import { listTraces } from './traces/list-traces.ts';

/** Reads of many rows: they run in the reader thread, each in its own snapshot. */
export function longReads(database: Connection) {
  const names = new NameTexts(database);
  return {
    served: () => servedDays(database),
    summarize: (filter: Parameters<typeof summarizeUsage>[2]) => summarizeUsage(database, names, filter),
    traces: (filter: Parameters<typeof listTraces>[2]) => listTraces(database, names, filter),
    rejections: (filter: Parameters<typeof listRejections>[2]) => listRejections(database, names, filter),
    responses: (page: Parameters<typeof listResponses>[1]) => listResponses(database, page),
    /** Other reads run between its steps. */
    verify: (_: undefined, __: undefined, onStep: () => void) => verifyLedger(database, onStep),
    checkParts: () => checkParts(database),
    checkPart: (part: string) => checkPart(database, part),
    /** Other reads run while a backup waits for its next pages. */
    backup: (task: BackupTask, onProgress: Parameters<typeof backUp>[2]) =>
      backUp(database.name, task, onProgress),
  };
}

export type LongReads = ReturnType<typeof longReads>;
