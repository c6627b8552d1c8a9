import type { Connection } from '../engine/connection.ts';
import { indexKinds } from '../metering/usage/index-kinds.ts';
import { foldedTo } from '../metering/usage/usage-totals.ts';
import type { Conditions, Driver, Looked } from './call-conditions.ts';

/** As many calls as took about this long before are looked at between two looks at the clock, in milliseconds. */
const sliceMs = 5;

/** A scan that has looked at few calls goes on for so many times as long: a slow disk or a busy processor makes no page empty. */
const scannedMin = 1_000;
const patience = 4;

/** How scans of calls keep to their time. */
export interface ScanPace {
  /** A clock in milliseconds. */
  now: () => number;
  /** How many calls are looked at between two looks at it. */
  slice: { first: number; min: number; max: number };
}

/** Each call that is not in memory is read from the disk. */
export const filePace: ScanPace = {
  now: () => performance.now(),
  slice: { first: 20, min: 5, max: 1_000 },
};

/** Each slice is a round trip to a server, which takes longer than the calls in it. */
export const serverPace: ScanPace = {
  now: () => performance.now(),
  slice: { first: 1_000, min: 1_000, max: 1_000 },
};

/** The position of a call in the list. */
export interface Position {
  completedAt: number;
  number: number;
}

export interface ScanRange {
  workspace: number;
  since: number;
  until: number;
  after: Position | undefined;
}

interface ScanOptions extends Looked {
  range: ScanRange;
  /** SELECT terms of what is read of each match, besides its position. */
  columns?: string;
  /** Stops at so many matches. */
  limit: number;
  deadlineMs: number;
  pace: ScanPace;
}

interface Scanned<Row> {
  /** Newest first; more than `limit` of them, perhaps. */
  found: (Position & Row)[];
  /** How many calls were looked at. */
  scanned: number;
  /** The last call that was looked at, if time was up before there were enough. */
  end: Position | undefined;
}

/** Looks at the calls of lists, slice by slice and newest first, until there are enough matches or time is up. */
export function scanCalls<Row = unknown>(
  database: Connection,
  { conditions, drivers, range, columns = '', limit, deadlineMs, pace }: ScanOptions,
): Scanned<Row> {
  const { now } = pace;
  const started = now();
  const reads = { conditions, columns: `calls.completed_at AS completedAt, calls.number${columns}` };
  const unfolded = unfoldedCalls<Row>(database, reads, range);
  const found: (Position & Row)[] = [];
  let scanned = 0;
  let position = range.after;
  for (const driver of drivers) {
    const nextSlice = slicesOf(database, { driver, range, pace });
    for (;;) {
      const { calls, isLast } = nextSlice(position);
      scanned += calls.length;
      found.push(...matchesIn<Row>(database, reads, calls));
      position = calls.at(-1) ?? position;
      if (isLast || found.length >= limit) break;
      if (isTimeUp({ scanned, ms: now() - started, deadlineMs }) && position) {
        const end = position;
        const newer = unfolded.filter((call) => compare(call, end) <= 0);
        return { found: [...newer, ...found].sort(compare), scanned, end };
      }
    }
    if (found.length >= limit) break;
    // The next list begins before the times of this one.
    position = earliest(position, { completedAt: driver.from, number: Number.MIN_SAFE_INTEGER });
  }
  return {
    found: [...unfolded, ...found].sort(compare),
    scanned: scanned + unfolded.length,
    end: undefined,
  };
}

/** Whether a scan ends that took so long to look at so many calls. */
export function isTimeUp({
  scanned,
  ms,
  deadlineMs,
}: {
  scanned: number;
  ms: number;
  deadlineMs: number;
}): boolean {
  return ms > (scanned < scannedMin ? patience * deadlineMs : deadlineMs);
}

/** Newest first. */
export function compare(one: Position, other: Position): number {
  return other.completedAt - one.completedAt || other.number - one.number;
}

function earliest(one: Position | undefined, other: Position): Position {
  return one && compare(one, other) > 0 ? one : other;
}

interface SlicesQuery {
  driver: Driver;
  range: Omit<ScanRange, 'after'>;
  pace: ScanPace;
}

/** Returns a function that reads the next calls of a list after a position: the fewer, the longer those before took. */
export function slicesOf(
  database: Connection,
  { driver, range, pace: { now, slice } }: SlicesQuery,
): (position: Position | undefined) => { calls: Position[]; isLast: boolean } {
  const { kind, values, from } = driver;
  const { workspace, until } = range;
  const read = database.prepare<[object], Position>(
    `SELECT completed_at AS completedAt, number FROM call_index
     WHERE workspace = @workspace AND kind = ${indexKinds[kind]} AND value = @value
       AND completed_at >= @since AND completed_at < @until AND (completed_at, number) < (@at, @number)
     ORDER BY completed_at DESC, number DESC LIMIT @count`,
  );
  const since = Math.max(range.since, from);
  let count = slice.first;
  let readAt: number | undefined;
  return (position) => {
    const startedAt = now();
    if (readAt !== undefined) {
      const inTime = Math.round((count * sliceMs) / (startedAt - readAt));
      count = Math.min(Math.max(inTime, slice.min), slice.max);
    }
    readAt = startedAt;
    const at = position?.completedAt ?? Number.MAX_SAFE_INTEGER;
    const after = { workspace, since, until, at, number: position?.number ?? 0, count };
    // A call with several tags is in several lists.
    const isOther = (call: Position, index: number, all: readonly Position[]) =>
      call.number !== all[index - 1]?.number;
    const calls = values
      .flatMap((value) => read.all({ ...after, value }))
      .sort(compare)
      .filter(isOther)
      .slice(0, count);
    return { calls, isLast: calls.length < count };
  };
}

interface CallReads {
  conditions: Conditions;
  columns: string;
}

export function matchesIn<Row>(
  database: Connection,
  { conditions: { sql, values }, columns }: CallReads,
  slice: readonly Position[],
): (Position & Row)[] {
  if (slice.length === 0) return [];
  return database
    .prepare<[object], Position & Row>(
      `SELECT ${columns} FROM json_each(@numbers) AS slice
       CROSS JOIN calls WHERE calls.number = CAST(slice.value AS bigint) AND ${sql}`,
    )
    .all({ ...values, numbers: JSON.stringify(slice.map(({ number }) => number)) })
    .sort(compare);
}

export function unfoldedCalls<Row>(
  database: Connection,
  { conditions: { sql, values }, columns }: CallReads,
  { workspace, since, until, after }: ScanRange,
): (Position & Row)[] {
  return database
    .prepare<[object], Position & Row>(
      `SELECT ${columns} FROM calls
       WHERE number > @foldedTo AND +workspace = @workspace AND completed_at >= @since AND completed_at < @until
         AND (completed_at, number) < (@at, @number) AND ${sql}`,
    )
    .all({
      ...values,
      workspace,
      since,
      until,
      foldedTo: foldedTo(database),
      at: after?.completedAt ?? Number.MAX_SAFE_INTEGER,
      number: after?.number ?? 0,
    });
}
