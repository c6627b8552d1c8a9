import type { TracesSearch } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { dearFrom, longFrom } from '../metering/usage/index-kinds.ts';
import { totalsFrom } from '../metering/usage/slot-totals.ts';
import { type Looked, log2Max, lookFor } from './call-conditions.ts';
import {
  isTimeUp,
  matchesIn,
  type Position,
  type ScanPace,
  type ScanRange,
  scanCalls,
  slicesOf,
  unfoldedCalls,
} from './scan-calls.ts';

/** What the lists of long or dear calls may take, and what these and a scan of all calls may take together, which has some time anyway. */
const listsMs = 20;
const allMs = 30;
const scanMsMin = 10;

/** What calls are sorted by, as an expression, and from which ⌊log₂⌋ on the index lists them. */
const measures = {
  total_ms: { value: 'calls.total_ms', kind: 'duration', from: longFrom },
  cost: {
    value: 'coalesce(calls.cost_provider + calls.cost_margin, 0)',
    kind: 'cost',
    from: Math.floor(Math.log2(dearFrom)),
  },
} as const;

/** The calls with the highest values. */
export interface SortedCalls {
  numbers: number[];
  scanned: number;
  /** Whether there was no time to look at all calls, so that some with higher values may be missing. */
  isPartial: boolean;
}

type Valued = Position & { value: number };

const none: SortedCalls = { numbers: [], scanned: 0, isPartial: false };

/**
 * A page of the longest or dearest calls: from the lists of such calls, highest first. Where these have too few, from all calls
 * that there is time to look at, newest first.
 */
export function sortTraces(
  database: Connection,
  names: NameTexts,
  filter: TracesSearch & { sort: keyof typeof measures },
  pace: ScanPace,
): SortedCalls {
  return database.transaction(() => {
    const workspace = names.numberOf(filter.workspaceId);
    if (workspace === undefined) return none;
    const { value } = measures[filter.sort];
    const after =
      filter.after === undefined ? undefined : measuredCall(database, { value, workspace, id: filter.after });
    if (filter.after !== undefined && !after) return none;
    const { since = 0, until = Number.MAX_SAFE_INTEGER, limit } = filter;
    const looked = lookFor(database, names, filter, { workspace, since });
    if (!looked) return none;
    const isNext = (call: Valued) => !after || byValue(after, call) < 0;
    const range = { workspace, since, until, after: undefined };
    const started = pace.now();
    const outliers = outliersOf(database, { ...filter, looked, range, after, pace });
    const highest = outliers.found.filter(isNext).sort(byValue);
    const page = (found: readonly Valued[], scanned: number, isPartial: boolean) => ({
      numbers: found.slice(0, limit).map(({ number }) => number),
      scanned,
      isPartial,
    });
    if (outliers.isComplete && highest.length >= limit) return page(highest, outliers.scanned, false);
    const columns = `, ${value} AS value`;
    const all = scanCalls<{ value: number }>(database, {
      ...looked,
      range,
      columns,
      limit: Number.MAX_SAFE_INTEGER,
      deadlineMs: Math.max(allMs - (pace.now() - started), scanMsMin),
      pace,
    });
    const found = new Map([...highest, ...all.found.filter(isNext)].map((call) => [call.number, call]));
    return page([...found.values()].sort(byValue), outliers.scanned + all.scanned, all.end !== undefined);
  })();
}

/** Highest first, newest first among equals. */
function byValue(one: Valued, other: Valued): number {
  return other.value - one.value || other.number - one.number;
}

function measuredCall(
  database: Connection,
  { value, workspace, id }: { value: string; workspace: number; id: string },
): Valued | undefined {
  return database
    .prepare<[object], Valued>(
      `SELECT completed_at AS completedAt, number, ${value} AS value FROM calls
       WHERE request_id = @id AND workspace = @workspace`,
    )
    .get({ id, workspace });
}

interface OutliersQuery {
  sort: keyof typeof measures;
  limit: number;
  looked: Looked;
  range: ScanRange;
  after: Valued | undefined;
  pace: ScanPace;
}

/** The matches of the lists of long or dear calls, from the highest on until there are enough. */
function outliersOf(
  database: Connection,
  { sort, limit, looked: { conditions }, range, after, pace }: OutliersQuery,
): { found: Valued[]; scanned: number; isComplete: boolean } {
  const { value, kind, from } = measures[sort];
  const started = pace.now();
  const columns = `calls.completed_at AS completedAt, calls.number, ${value} AS value`;
  const found = unfoldedCalls<{ value: number }>(database, { conditions, columns }, range);
  let scanned = found.length;
  // Older calls are not on these lists.
  let isComplete = range.since >= totalsFrom(database);
  const isNext = (call: Valued) => !after || byValue(after, call) < 0;
  const highest = after && after.value >= 1 ? Math.floor(Math.log2(after.value)) : log2Max;
  let bucket = Math.min(highest, log2Max);
  for (; bucket >= from; bucket -= 1) {
    const nextSlice = slicesOf(database, {
      driver: { kind, values: [bucket], from: range.since },
      range,
      pace,
    });
    let position: Position | undefined;
    for (;;) {
      const { calls, isLast } = nextSlice(position);
      scanned += calls.length;
      found.push(...matchesIn<{ value: number }>(database, { conditions, columns }, calls));
      position = calls.at(-1);
      if (isLast) break;
      if (isTimeUp({ scanned, ms: pace.now() - started, deadlineMs: listsMs }))
        return { found, scanned, isComplete: false };
    }
    const lowest = 2 ** bucket;
    if (found.filter((call) => call.value >= lowest && isNext(call)).length >= limit) break;
  }
  // The lists have no shorter and no cheaper calls.
  if (bucket < from) isComplete = false;
  return { found, scanned, isComplete };
}
