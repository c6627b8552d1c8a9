import type { TracesSearch } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import { fixedNames, type NameTexts } from '../engine/names.ts';
import { dearFrom, type IndexKind, indexKinds, longFrom } from '../metering/index-kinds.ts';
import { totalsFrom } from '../metering/slot-totals.ts';
import { foldedTo } from '../metering/usage-totals.ts';
import { pageEnd } from './page-end.ts';

/** A page that is not full after this time ends where it is. */
const deadlineMs = 50;
/** Calls that are looked at between two looks at the clock. */
const sliceCalls = 1_000;
/** ⌊log₂⌋ of more milliseconds or nano-dollars than any call has. */
const log2Max = 53;

/** A page of finished calls. */
export interface FoundCalls {
  numbers: number[];
  /** How many calls were looked at. */
  scanned: number;
  /** The last call that was looked at, if the page ended before it was full. */
  end: { requestId: string; completedAt: number } | undefined;
}

/** The position of a call in the list. */
interface Position {
  completedAt: number;
  number: number;
}

interface ScanRange {
  workspace: number;
  since: number;
  until: number;
  after: Position | undefined;
  limit: number;
}

/** Conditions of a row of `calls`, with the values that they bind. */
interface Conditions {
  sql: string;
  values: Record<string, number | string>;
}

/** A list of `call_index` that has all matches, from a time on. */
interface Driver {
  kind: IndexKind;
  values: number[];
  from: number;
}

const none: FoundCalls = { numbers: [], scanned: 0, end: undefined };

/**
 * Finds a page of calls by any filters, newest first: through the list that has the fewest other calls, slice by slice until the
 * page is full or time is up. `now` is in milliseconds.
 */
export function searchTraces(
  database: Connection,
  names: NameTexts,
  filter: TracesSearch,
  now: () => number = () => performance.now(),
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
    return scanCalls(database, names, { filter, range: { workspace, since, until, after, limit }, now });
  })();
}

function scanCalls(
  database: Connection,
  names: NameTexts,
  { filter, range, now }: { filter: TracesSearch; range: ScanRange; now: () => number },
): FoundCalls {
  const numbers = numbersOf(database, names, filter, range.workspace);
  if (!numbers) return none;
  const conditions = conditionsOf(filter, numbers);
  const started = now();
  const unfolded = unfoldedCalls(database, conditions, range);
  const found: Position[] = [];
  let scanned = 0;
  let position = range.after;
  for (const driver of driversOf(database, filter, numbers, range)) {
    const slices = slicesOf(database, driver, range);
    for (;;) {
      const slice = slices(position);
      scanned += slice.length;
      found.push(...matchesIn(database, conditions, slice));
      position = slice.at(-1) ?? position;
      if (slice.length < sliceCalls || found.length >= range.limit) break;
      if (now() - started > deadlineMs && position) {
        const end = position;
        const isBefore = (call: Position) => compare(call, end) <= 0;
        const numbersFound = [...unfolded.filter(isBefore), ...found]
          .sort(compare)
          .map(({ number }) => number);
        return {
          numbers: numbersFound,
          scanned,
          end: { ...requestOf(database, end.number), completedAt: end.completedAt },
        };
      }
    }
    if (found.length >= range.limit) break;
    // The next list begins before the times of this one.
    position = earliest(position, { completedAt: driver.from, number: Number.MIN_SAFE_INTEGER });
  }
  const numbersFound = [...unfolded, ...found]
    .sort(compare)
    .slice(0, range.limit)
    .map(({ number }) => number);
  return { numbers: numbersFound, scanned: scanned + unfolded.length, end: undefined };
}

/** Newest first. */
function compare(one: Position, other: Position): number {
  return other.completedAt - one.completedAt || other.number - one.number;
}

function earliest(one: Position | undefined, other: Position): Position {
  return one && compare(one, other) > 0 ? one : other;
}

type Numbers = Partial<
  Record<
    'key' | 'model' | 'provider' | 'errorCode' | 'endpoint' | 'user' | 'conversation' | 'tag' | 'replayOf',
    number
  >
> & {
  statuses?: number[];
  clients?: number[];
};

/** Undefined if a filter names what no call has. */
function numbersOf(
  database: Connection,
  names: NameTexts,
  filter: TracesSearch,
  workspace: number,
): Numbers | undefined {
  const { keyId: key, model, provider, errorCode, endpoint, user, conversation, tag, replayOf } = filter;
  const numbers: Numbers = {};
  for (const [name, text] of Object.entries({
    key,
    model,
    provider,
    errorCode,
    endpoint,
    user,
    conversation,
    tag,
    replayOf,
  })) {
    if (text === undefined) continue;
    const number = names.numberOf(text);
    if (number === undefined) return undefined;
    numbers[name as 'key'] = number;
  }
  if (filter.statuses) {
    numbers.statuses = filter.statuses.flatMap((status) => names.numberOf(status) ?? []);
    if (numbers.statuses.length === 0) return undefined;
  }
  if (filter.client !== undefined) {
    numbers.clients = clientsLike(database, workspace, filter.client);
    if (numbers.clients.length === 0) return undefined;
  }
  return numbers;
}

/** A client in any version, `claude-cli`, or in one, `claude-cli/2.1.4`. */
function clientsLike(database: Connection, workspace: number, client: string): number[] {
  return database
    .prepare<[{ workspace: number; client: string }], number>(
      `SELECT client FROM clients CROSS JOIN names ON number = client
       WHERE workspace = @workspace AND (text = @client OR substr(text, 1, length(@client) + 1) = @client || '/')
       UNION SELECT number FROM names WHERE text = @client`,
    )
    .pluck()
    .all({ workspace, client });
}

function conditionsOf({ minTotalMs, minCost }: TracesSearch, numbers: Numbers): Conditions {
  const { statuses, clients, tag, ...names } = numbers;
  const columns: Record<keyof typeof names, string> = {
    key: 'key',
    model: 'model',
    provider: 'provider',
    errorCode: 'error_code',
    endpoint: 'endpoint',
    user: 'end_user',
    conversation: 'conversation',
    replayOf: 'replay_of',
  };
  const sql: string[] = [];
  const values: Conditions['values'] = {};
  for (const [name, number] of Object.entries(names)) {
    sql.push(`calls.${columns[name as keyof typeof names]} = @${name}`);
    values[name] = number;
  }
  const isIn = (column: string, name: string, list: readonly number[] | undefined) => {
    if (!list) return;
    sql.push(`calls.${column} IN (SELECT value FROM json_each(@${name}))`);
    values[name] = JSON.stringify(list);
  };
  isIn('status', 'statuses', statuses);
  isIn('client', 'clients', clients);
  if (tag !== undefined) {
    sql.push('EXISTS (SELECT 1 FROM json_each(calls.tags) WHERE value = @tag)');
    values.tag = tag;
  }
  if (minTotalMs !== undefined) {
    sql.push('calls.total_ms >= @minTotalMs');
    values.minTotalMs = minTotalMs;
  }
  if (minCost !== undefined) {
    sql.push('calls.cost_provider + calls.cost_margin >= @minCost');
    values.minCost = minCost;
  }
  return { sql: sql.length === 0 ? 'TRUE' : sql.join(' AND '), values };
}

/** The lists to read, newest calls first: those that began later have all calls only since then. */
function driversOf(
  database: Connection,
  { minTotalMs, minCost }: TracesSearch,
  numbers: Numbers,
  { since }: ScanRange,
): Driver[] {
  const { replayOf, conversation, tag, user, errorCode, key, model, provider, statuses } = numbers;
  const one = (kind: IndexKind, value: number | undefined): Driver[] =>
    value === undefined ? [] : [{ kind, values: [value], from: since }];
  const upwards = (kind: IndexKind, from: number): Driver => ({
    kind,
    values: Array.from({ length: log2Max - from + 1 }, (_, index) => from + index),
    from: since,
  });
  // No call before these lists had such a label.
  const [byLabel] = [
    ...one('replayOf', replayOf),
    ...one('conversation', conversation),
    ...one('user', user),
    ...one('tag', tag),
  ];
  if (byLabel) return [byLabel];
  const hasStatuses = statuses && !statuses.includes(fixedNames.completed);
  const [base] = [
    ...(hasStatuses ? [{ kind: 'status' as const, values: statuses, from: since }] : []),
    ...one('key', key),
    ...one('model', model),
    ...one('provider', provider),
    { kind: 'all' as const, values: [0], from: since },
  ];
  const [rare] = [
    ...one('errorCode', errorCode),
    ...(minCost !== undefined && minCost >= dearFrom
      ? [upwards('cost', Math.floor(Math.log2(minCost)))]
      : []),
    ...(minTotalMs !== undefined && minTotalMs >= 2 ** longFrom
      ? [upwards('duration', Math.floor(Math.log2(minTotalMs)))]
      : []),
  ];
  if (!base) return [];
  if (!rare) return [base];
  const from = totalsFrom(database);
  return since >= from ? [rare] : [{ ...rare, from }, base];
}

/** Returns a function that reads the next calls of a list after a position. */
function slicesOf(database: Connection, { kind, values, from }: Driver, range: ScanRange) {
  const read = database.prepare<[object], Position>(
    `SELECT completed_at AS completedAt, number FROM call_index
     WHERE workspace = @workspace AND kind = ${indexKinds[kind]} AND value = @value
       AND completed_at >= @since AND completed_at < @until AND (completed_at, number) < (@at, @number)
     ORDER BY completed_at DESC, number DESC LIMIT ${sliceCalls}`,
  );
  const { workspace, until } = range;
  const since = Math.max(range.since, from);
  return (position: Position | undefined): Position[] => {
    const at = position?.completedAt ?? Number.MAX_SAFE_INTEGER;
    const after = { workspace, since, until, at, number: position?.number ?? 0 };
    return values
      .flatMap((value) => read.all({ ...after, value }))
      .sort(compare)
      .slice(0, sliceCalls);
  };
}

function matchesIn(
  database: Connection,
  { sql, values }: Conditions,
  slice: readonly Position[],
): Position[] {
  if (slice.length === 0) return [];
  return database
    .prepare<[object], Position>(
      `SELECT calls.completed_at AS completedAt, calls.number FROM json_each(@numbers) AS slice
       CROSS JOIN calls ON calls.number = slice.value WHERE ${sql}`,
    )
    .all({ ...values, numbers: JSON.stringify(slice.map(({ number }) => number)) })
    .sort(compare);
}

function unfoldedCalls(database: Connection, { sql, values }: Conditions, range: ScanRange): Position[] {
  const { workspace, since, until, after } = range;
  return database
    .prepare<[object], Position>(
      `SELECT calls.completed_at AS completedAt, calls.number FROM calls
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

function requestOf(database: Connection, number: number): { requestId: string } {
  const read = database.prepare<[number], { requestId: string }>(
    'SELECT request_id AS requestId FROM calls WHERE number = ?',
  );
  return read.get(number) ?? { requestId: '' };
}
