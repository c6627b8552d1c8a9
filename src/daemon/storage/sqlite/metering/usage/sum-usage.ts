import type { Connection } from '../../engine/connection.ts';
import { sqlName } from '../../engine/row-format.ts';
import { type IndexKind, indexKinds, isListed } from './index-kinds.ts';
import { slotsKeptFrom } from './prune-slots.ts';
import { labelKinds, slotMs, slotsFrom, totalsFrom } from './slot-totals.ts';
import { summedColumns, sumsOfCalls, tagNumber, tagsOfCalls, type UsageSums } from './summed-columns.ts';
import { dayMs, foldedTo, spanDays } from './usage-totals.ts';

/** What calls are added up by: UTC days, numbers of names, or none of a name. */
export type SumGroup = 'day' | 'model' | 'provider' | 'status' | 'key' | 'client' | 'user' | 'tag' | 'error';

/** Filters by the numbers of names; null for all calls. */
export interface SumFilter {
  workspace: number;
  keys: readonly number[] | null;
  model: number | null;
  provider: number | null;
  status: number | null;
}

export interface SumRow extends UsageSums {
  /** In the order of the groups; null for none, 0 for labels that are added up together, `untagged` for no tag. */
  names: (number | null)[];
}

interface SumOptions {
  /** Few calls have the provider or status of the filter, so that they are read without totals. */
  isOneByOne?: boolean;
  /** What is added up; by default all. The others are 0. */
  columns?: SumColumns;
}

type SumColumns = readonly (keyof UsageSums)[];
type Row = Record<string, number | null>;

interface Span {
  from: number;
  to: number;
}

/** A part of a range: UTC days or quarters of an hour, by number, or calls by the time of their completion. */
interface Piece extends Span {
  source: 'days' | 'slots' | 'calls';
  /** Whether it is added or taken away. */
  factor: 1 | -1;
  /** The length of the days that are read together, where there is a choice. */
  days?: number;
}

const noSums = Object.fromEntries(summedColumns.map((column) => [column, 0])) as UsageSums;
const isLabel = (group: SumGroup): group is keyof typeof labelKinds => group in labelKinds;
const slotsPerDay = dayMs / slotMs;
const spanMs = spanDays * dayMs;

/**
 * The pieces that a statement reads, and what for: those of a range that are added, or taken away, have one number. Each is
 * read from the JSON once; PostgreSQL would otherwise read it again for every row that it compares with it.
 */
const pieces = `(WITH listed AS MATERIALIZED (
    SELECT CAST(value ->> '$[0]' AS bigint) AS use, CAST(value ->> '$[1]' AS bigint) AS piece_from,
      CAST(value ->> '$[2]' AS bigint) AS piece_to, CAST(value ->> '$[3]' AS bigint) AS piece_days
    FROM json_each(@pieces))
  SELECT use, piece_from, piece_to, piece_days FROM listed) AS pieces`;

/** A piece without what the statement implies. */
interface Use extends Span {
  /** Twice the index of its range, and 1 if it is taken away. */
  use: number;
  days?: number;
}

/** A group as a column of `calls`, or of a table of totals. */
const ofCalls: Record<SumGroup, string> = {
  day: `calls.completed_at / ${dayMs}`,
  model: 'calls.model',
  provider: 'calls.provider',
  status: 'calls.status',
  key: 'calls.key',
  client: 'calls.client',
  user: 'calls.end_user',
  tag: tagNumber,
  error: 'calls.error_code',
};
const ofDays = (group: SumGroup): string => {
  if (isLabel(group)) return 'value';
  return group === 'provider' || group === 'key' ? `nullif(${group}, 0)` : group;
};
const ofSlots = (group: SumGroup): string => (group === 'day' ? `slot / ${slotsPerDay}` : ofDays(group));

/**
 * Adds up the calls of any range: whole UTC days from daily totals, what remains from the totals of quarters, and what remains
 * then from the calls. Of a day that a range cuts, it reads the shorter part. Use it within one transaction.
 */
export class UsageSummer {
  readonly #database: Connection;
  readonly #filter: SumFilter;
  readonly #groups: readonly SumGroup[];
  readonly #isOneByOne: boolean;
  readonly #columns: SumColumns;
  readonly #foldedTo: number;
  readonly #totalsFrom: number;
  /** Since when there are totals by quarter of keys, and of labels. */
  readonly #keysFrom: number;
  readonly #labelsFrom: number;
  /** The times of the folded calls of the workspace, and of those that are not folded. */
  readonly #folded: Span;
  readonly #unfolded: Span;

  constructor(
    database: Connection,
    filter: SumFilter,
    groups: readonly SumGroup[],
    { isOneByOne = false, columns = summedColumns }: SumOptions = {},
  ) {
    this.#database = database;
    this.#filter = filter;
    this.#groups = groups;
    this.#isOneByOne = isOneByOne;
    this.#columns = columns;
    this.#foldedTo = foldedTo(database);
    this.#totalsFrom = totalsFrom(database);
    const bound = (order: 'ASC' | 'DESC') =>
      database
        .prepare<[number], number>(
          `SELECT completed_at FROM call_index WHERE workspace = ? AND kind = ${indexKinds.all} AND value = 0
           ORDER BY completed_at ${order} LIMIT 1`,
        )
        .pluck()
        .get(filter.workspace);
    this.#folded = { from: bound('ASC') ?? 0, to: (bound('DESC') ?? -1) + 1 };
    const keptFrom = slotsKeptFrom(this.#folded.to - 1);
    this.#keysFrom = Math.max(this.#totalsFrom, keptFrom);
    this.#labelsFrom = Math.max(slotsFrom(database), keptFrom);
    this.#unfolded = database
      .prepare<[number], Span>(
        'SELECT coalesce(min(completed_at), 0) AS "from", coalesce(max(completed_at) + 1, 0) AS "to" FROM calls WHERE number > ?',
      )
      .get(this.#foldedTo) ?? { from: 0, to: 0 };
  }

  /** The times of all calls of the workspace, and perhaps some more. */
  get extent(): Span {
    const spans = [this.#folded, this.#unfolded].filter(({ from, to }) => from < to);
    return {
      from: Math.min(...spans.map(({ from }) => from)),
      to: Math.max(...spans.map(({ to }) => to)),
    };
  }

  /** The sums of the calls from a time to before another, without empty groups. */
  sum(since: number, until: number): SumRow[] {
    return this.sumEach([{ start: since, end: until }])[0] ?? [];
  }

  /** The sums of each of several ranges, which are read together. */
  sumEach(ranges: readonly { start: number; end: number }[]): SumRow[][] {
    const sums = ranges.map(() => new Map<unknown, SumRow>());
    const uses: Record<Piece['source'] | 'unfolded', Use[]> = {
      days: [],
      slots: [],
      calls: [],
      unfolded: [],
    };
    for (const [index, { start, end }] of ranges.entries()) {
      for (const piece of this.#pieces(start, end))
        uses[piece.source].push({ ...piece, use: 2 * index + Number(piece.factor < 0) });
      if (end > this.#unfolded.from && start < this.#unfolded.to)
        uses.unfolded.push({ from: start, to: end, use: 2 * index });
    }
    const add = (rows: Row[]) => {
      for (const row of rows) addRow(sums[Math.floor((row.use ?? 0) / 2)], row, this.#groups.length);
    };
    if (uses.days.length > 0) add(this.#days(uses.days));
    if (uses.slots.length > 0) add(this.#slots(uses.slots));
    if (uses.calls.length > 0) add(this.#calls(uses.calls));
    if (uses.unfolded.length > 0) add(this.#unfoldedCalls(uses.unfolded));
    return sums.map((each) => [...each.values()].filter(({ requests }) => requests > 0));
  }

  /** What the folded calls of a range are added up from. */
  #pieces(since: number, until: number): Piece[] {
    const { from, to } = this.#folded;
    if (since >= to || until <= from) return [];
    if (this.#isOneByOne)
      return [{ source: 'calls', from: Math.max(since, from), to: Math.min(until, to), factor: 1 }];
    // A bound beyond all calls cuts no day and no span of days.
    const start = since <= from ? Math.floor(from / spanMs) * spanMs : since;
    const end = until >= to ? Math.ceil(to / spanMs) * spanMs : until;
    if (Math.ceil(start / dayMs) > Math.floor(end / dayMs))
      return this.#partOfDay({ from: start, to: end }, 1);
    const [first, last] = [Math.round(start / dayMs), Math.round(end / dayMs)];
    return [
      ...this.#wholeDays({ from: first, to: last }),
      ...this.#between(start, first * dayMs),
      ...this.#between(last * dayMs, end),
    ];
  }

  /** From a bound to a later one; backwards, what is between them is taken away. */
  #between(from: number, to: number): Piece[] {
    return from < to ? this.#partOfDay({ from, to }, 1) : this.#partOfDay({ from: to, to: from }, -1);
  }

  #partOfDay({ from, to }: Span, factor: 1 | -1): Piece[] {
    const slots = { from: Math.ceil(from / slotMs), to: Math.floor(to / slotMs) };
    const pieces: Piece[] =
      this.#hasSlots(from) && slots.from < slots.to
        ? [
            { source: 'slots', ...slots, factor },
            { source: 'calls', from, to: slots.from * slotMs, factor },
            { source: 'calls', from: slots.to * slotMs, to, factor },
          ]
        : [{ source: 'calls', from, to, factor }];
    return pieces.filter((piece) => piece.from < piece.to);
  }

  /** Whether totals by quarter have these calls, by these filters and groups. */
  #hasSlots(from: number): boolean {
    const { keys, model, provider } = this.#filter;
    if (this.#groups.some(isLabel)) return from >= this.#labelsFrom && this.#hasNoFilter();
    if (keys === null && !this.#groups.includes('key')) return from >= this.#totalsFrom;
    if (from < this.#keysFrom) return false;
    const isPlain = (group: SumGroup) => group === 'status' || group === 'key' || group === 'day';
    return model === null && provider === null && this.#groups.every(isPlain);
  }

  #wholeDays({ from, to }: Span): Piece[] {
    const asOne: Piece = { source: 'days', from, to, factor: 1, days: 1 };
    if (from >= to) return [];
    if (this.#groups.some(isLabel) && !this.#hasNoFilter())
      return [{ source: 'calls', from: from * dayMs, to: to * dayMs, factor: 1 }];
    if (!this.#isOfKeys() || this.#groups.includes('day')) return [asOne];
    const [first, last] = [Math.round(from / spanDays) * spanDays, Math.round(to / spanDays) * spanDays];
    const used =
      Math.min(to, Math.ceil(this.#folded.to / dayMs)) -
      Math.max(from, Math.floor(this.#folded.from / dayMs));
    if (first >= last || used <= Math.abs(first - from) + Math.abs(last - to)) return [asOne];
    const ends: Piece[] = [
      { ...asOne, to: first },
      { ...asOne, from: first, to: from, factor: -1 },
      { ...asOne, from: last },
      { ...asOne, from: to, to: last, factor: -1 },
    ];
    return [{ ...asOne, from: first, to: last, days: spanDays }, ...ends.filter((end) => end.from < end.to)];
  }

  /** Whether `usage_keys` has their days: those of all keys, by model or day. */
  #isOfKeys(): boolean {
    const { keys, model, provider, status } = this.#filter;
    const others = this.#groups.filter((group) => group !== 'key');
    if (others.length === this.#groups.length || keys !== null || provider !== null || status !== null)
      return false;
    return others.every((group) => group === 'day' || (group === 'model' && model === null));
  }

  #days(of: readonly Use[]): Row[] {
    if (this.#isOfKeys()) return this.#keyDays(of);
    const label = this.#groups.find(isLabel);
    const table = label
      ? 'usage_label_days'
      : this.#filter.keys !== null || this.#groups.includes('key')
        ? 'usage_key_days'
        : 'usage_days';
    const where = label ? `kind = ${labelKinds[label]} AND` : this.#filters('');
    return this.#totals(table, ofDays, { where: `${where} day >= piece_from AND day < piece_to`, of });
  }

  /**
   * Totals by key from `usage_keys`: of each key a row per long span, and at most half as many rows as a long span has days at
   * each end. By model, there are as many of each model that was used.
   */
  #keyDays(of: readonly Use[]): Row[] {
    const isByModel = this.#groups.includes('model');
    const active = `(SELECT DISTINCT model AS active_model FROM usage_days
      WHERE workspace = @workspace AND day >= @activeFrom AND day < @activeTo) AS active`;
    const column = (group: SumGroup) => (group === 'day' ? 'start' : ofDays(group));
    const model = isByModel ? 'active_model' : 'coalesce(@model, 0)';
    return this.#totals(isByModel ? `${active} CROSS JOIN usage_keys` : 'usage_keys', column, {
      where: `model = ${model} AND days = piece_days AND start >= piece_from AND start < piece_to`,
      of,
      more: { activeFrom: startOf(of), activeTo: endOf(of) },
    });
  }

  #slots(of: readonly Use[]): Row[] {
    const label = this.#groups.find(isLabel);
    const isByKey = this.#filter.keys === null && this.#groups.includes('key');
    // `usage_keys` names the keys that were used on a day, whose quarters are then found one after another.
    const active = `(SELECT start AS active_day, key AS active_key FROM usage_keys
      WHERE workspace = @workspace AND model = 0 AND days = 1) AS active`;
    const table = label
      ? 'usage_label_slots'
      : isByKey
        ? `${active} CROSS JOIN usage_key_slots`
        : this.#filter.keys === null
          ? 'usage_slots'
          : 'usage_key_slots';
    const only = label ? `kind = ${labelKinds[label]} AND` : this.#filters('');
    return this.#totals(table, ofSlots, {
      where: `${isByKey ? `active_day = piece_from / ${slotsPerDay} AND key = active_key AND` : ''}
        ${only} slot >= piece_from AND slot < piece_to`,
      of,
    });
  }

  #totals(
    table: string,
    column: (group: SumGroup) => string,
    { where, of, more }: { where: string; of: readonly Use[]; more?: object },
  ): Row[] {
    const sums = this.#columns.map((name) => `sum(${sqlName(name)}) AS ${name}`).join(', ');
    return this.#run(
      `SELECT use, ${this.#names(column)} ${sums} FROM ${pieces} CROSS JOIN ${table}
       WHERE workspace = @workspace AND ${where} ${this.#grouping()}`,
      of,
      more,
    );
  }

  /** Calls of ranges of time, one by one. */
  #calls(of: readonly Use[]): Row[] {
    const { keys, model, provider, status } = this.#filter;
    if (this.#groups.includes('error') && this.#hasNoFilter() && startOf(of) >= this.#totalsFrom)
      return this.#failedCalls(of);
    const [kind, value]: [IndexKind, number] =
      keys !== null
        ? ['key', 0]
        : status !== null && isListed(status)
          ? ['status', status]
          : model !== null
            ? ['model', model]
            : provider !== null
              ? ['provider', provider]
              : ['all', 0];
    return this.#run(
      `SELECT use, ${this.#names((group) => ofCalls[group])} ${sumsOfCalls(this.#columns)}
       FROM ${pieces} CROSS JOIN call_index CROSS JOIN calls ${this.#tags()}
       WHERE calls.number = call_index.number AND call_index.workspace = @workspace AND call_index.kind = ${indexKinds[kind]} AND ${keys === null ? 'call_index.value = @value' : ofKeys('call_index.value')}
         AND call_index.completed_at >= piece_from AND call_index.completed_at < piece_to AND ${this.#filters('calls.')} TRUE
       ${this.#grouping()}`,
      of,
      { value },
    );
  }

  /** Those with an error code, which are few: the totals of days name the codes, and an index has the calls of each. */
  #failedCalls(of: readonly Use[]): Row[] {
    return this.#run(
      `SELECT use, ${this.#names((group) => ofCalls[group])} ${sumsOfCalls(this.#columns)}
       FROM (SELECT DISTINCT value AS code FROM usage_label_days
           WHERE workspace = @workspace AND kind = ${labelKinds.error} AND day >= @fromDay AND day <= @toDay) AS codes
         CROSS JOIN ${pieces} CROSS JOIN call_index CROSS JOIN calls
       WHERE call_index.workspace = @workspace AND call_index.kind = ${indexKinds.errorCode} AND call_index.value = code
         AND call_index.completed_at >= piece_from AND call_index.completed_at < piece_to AND calls.number = call_index.number
       ${this.#grouping()}`,
      of,
      { fromDay: Math.floor(startOf(of) / dayMs), toDay: Math.floor((endOf(of) - 1) / dayMs) },
    );
  }

  #unfoldedCalls(of: readonly Use[]): Row[] {
    return this.#run(
      `SELECT use, ${this.#names((group) => ofCalls[group])} ${sumsOfCalls(this.#columns)} FROM ${pieces} CROSS JOIN calls ${this.#tags()}
       WHERE number > @foldedTo AND +calls.workspace = @workspace AND ${this.#filters('calls.')}
         calls.completed_at >= piece_from AND calls.completed_at < piece_to ${this.#grouping()}`,
      of,
      { foldedTo: this.#foldedTo },
    );
  }

  #hasNoFilter(): boolean {
    const { keys, model, provider, status } = this.#filter;
    return keys === null && model === null && provider === null && status === null;
  }

  #filters(prefix: string): string {
    const { workspace: _workspace, keys, ...filters } = this.#filter;
    const others = Object.entries(filters).map(([column, value]) =>
      value === null ? '' : `${prefix}${column} = @${column} AND`,
    );
    return [keys === null ? '' : `${ofKeys(`${prefix}key`)} AND`, ...others].join(' ');
  }

  #tags(): string {
    return this.#groups.includes('tag') ? `CROSS JOIN ${tagsOfCalls}` : '';
  }

  #names(column: (group: SumGroup) => string): string {
    return this.#groups.map((group, index) => `${column(group)} AS group${index},`).join(' ');
  }

  #grouping(): string {
    return `GROUP BY 1${this.#groups.map((_, index) => `, ${index + 2}`).join('')}`;
  }

  #run(sql: string, of: readonly Use[], more: object = {}): Row[] {
    const { keys, ...filter } = this.#filter;
    return this.#database.prepare<[object], Row>(sql).all({
      ...filter,
      ...more,
      keys: JSON.stringify(keys),
      pieces: JSON.stringify(of.map(({ use, from, to, days = 1 }) => [use, from, to, days])),
    });
  }
}

/** The numbers of all keys that were used in a range, and perhaps some others; 0 if there are calls without one. */
export function usedKeys(database: Connection, workspace: number, { from, to }: Span): number[] {
  return database
    .prepare<[object], number>(
      `SELECT key FROM usage_keys
       WHERE workspace = @workspace AND model = 0 AND days = ${spanDays} AND start > @fromDay - ${spanDays} AND start < @toDay
       UNION SELECT coalesce(key, 0) FROM calls WHERE number > @foldedTo AND +workspace = @workspace`,
    )
    .pluck()
    .all({
      workspace,
      foldedTo: foldedTo(database),
      fromDay: Math.floor(from / dayMs),
      toDay: Math.ceil(to / dayMs),
    });
}

/** Calls of the keys of the filter. */
const ofKeys = (column: string) => `${column} IN (SELECT CAST(value AS bigint) FROM json_each(@keys))`;
const startOf = (of: readonly Span[]) => Math.min(...of.map(({ from }) => from));
const endOf = (of: readonly Span[]) => Math.max(...of.map(({ to }) => to));

function addRow(sums: Map<unknown, SumRow> | undefined, row: Row, groups: number): void {
  const names = Array.from({ length: groups }, (_, index) => row[`group${index}`] ?? null);
  const id = groups === 1 ? names[0] : names.join();
  let sum = sums?.get(id);
  if (!sum) {
    sum = { names, ...noSums };
    sums?.set(id, sum);
  }
  const factor = (row.use ?? 0) % 2 === 0 ? 1 : -1;
  for (const column of summedColumns) sum[column] += factor * (row[column] ?? 0);
}
