import type { TracesSearch } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { lookFor } from './call-conditions.ts';
import { pageEnd } from './page-end.ts';
import { type ScanPace, scanCalls } from './scan-calls.ts';

/** A page that is not full after this time ends where it is. */
const deadlineMs = 40;

/** A page of finished calls. */
export interface FoundCalls {
  numbers: number[];
  /** How many calls were looked at. */
  scanned: number;
  /** The last call that was looked at, if the page ended before it was full. */
  end: { requestId: string; completedAt: number } | undefined;
}

const none: FoundCalls = { numbers: [], scanned: 0, end: undefined };

/**
 * Finds a page of calls by any filters, newest first: through the list that has the fewest other calls, slice by slice until the
 * page is full or time is up.
 */
export function searchTraces(
  database: Connection,
  names: NameTexts,
  filter: TracesSearch,
  pace: ScanPace,
): FoundCalls {
  return database.transaction(() => {
    const workspace = names.numberOf(filter.workspaceId);
    if (workspace === undefined) return none;
    const after =
      filter.after === undefined
        ? undefined
        : pageEnd(database, names, [filter.workspaceId, ''], filter.after);
    if (filter.after !== undefined && !after) return none;
    const { since = 0, until = Number.MAX_SAFE_INTEGER, limit } = filter;
    const looked = lookFor(database, names, filter, { workspace, since });
    if (!looked) return none;
    const range = { workspace, since, until, after };
    const { found, scanned, end } = scanCalls(database, { ...looked, range, limit, deadlineMs, pace });
    return {
      numbers: (end ? found : found.slice(0, limit)).map(({ number }) => number),
      scanned,
      end: end && { requestId: requestOf(database, end.number), completedAt: end.completedAt },
    };
  })();
}

function requestOf(database: Connection, number: number): string {
  const read = database.prepare<[number], string>('SELECT request_id FROM calls WHERE number = ?').pluck();
  return read.get(number) ?? '';
}
