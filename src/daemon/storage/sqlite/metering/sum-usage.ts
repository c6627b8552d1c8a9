import type { Connection } from '../engine/connection.ts';
import { type IndexKind, indexKinds } from './index-kinds.ts';
import { slotsKeptFrom } from './prune-slots.ts';
import { labelKinds, slotMs, slotsFrom, totalsFrom } from './slot-totals.ts';
import { addedUpCalls, summedColumns, summedNames, tagNumber, type UsageSums } from './summed-columns.ts';
import { dayMs, foldedTo, spanDays } from './usage-totals.ts';

/** What calls are added up by: UTC days, numbers of names, or none of a name. */
export type SumGroup = 'day' | 'model' | 'provider' | 'status' | 'key' | 'client' | 'user' | 'tag' | 'error';

/** Filters by the numbers of names; null for all calls. */
export interface SumFilter {
  workspace: number;
  key: number | null;
  model: number | null;
  provider: number | null;
  status: number | null;
}

export interface SumRow extends UsageSums {
  /** In the order of the groups; null for none, 0 for labels that are added up together. */
  names: (number | null)[];
}

type Row = Record<string, number | null>;

interface Span {
  from: number;
  to: number;
}

const zero = (): UsageSums => Object.fromEntries(summedColumns.map((column) => [column, 0])) as UsageSums;
const isLabel = (group: SumGroup): group is keyof typeof labelKinds => group in labelKinds;
const slotsPerDay = dayMs / slotMs;
/** Of a range whose UTC days are read: days have 20 hours or more in all time zones. */
const daysRangeMin = 20 * 3_600_000;
const nearestDay = (at: number) => Math.round(at / dayMs);

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
 * then from the calls. Where there are no totals by quarter, it reads the shorter part of a day from the calls. Use it within
 * one transaction.
 */
export class UsageSummer {
  readonly #database: Connection;
  readonly #filter: SumFilter;
  readonly #groups: readonly SumGroup[];
  readonly #statements = new Map<string, (bounds: object) => Row[]>();
  readonly #foldedTo: number;
  readonly #totalsFrom: number;
  /** Since when there are totals by quarter of keys, and of labels. */
  readonly #keysFrom: number;
  readonly #labelsFrom: number;
  /** The times of the folded calls of the workspace, and of those that are not folded. */
  readonly #folded: Span;
  readonly #unfolded: Span;

  constructor(database: Connection, filter: SumFilter, groups: readonly SumGroup[]) {
    this.#database = database;
    this.#filter = filter;
    this.#groups = groups;
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
    const sums = new Map<string, SumRow>();
    const add = (rows: Row[], factor: 1 | -1 = 1) => {
      for (const row of rows) this.#add(sums, row, factor);
    };
    this.#addFolded(add, since, until);
    if (until > this.#unfolded.from && since < this.#unfolded.to) add(this.#unfoldedCalls(since, until));
    return [...sums.values()].filter(({ requests }) => requests > 0);
  }

  /** The sums of each of several ranges that follow each other. Of one key, their quarters or days are read together. */
  sumEach(ranges: readonly { start: number; end: number }[]): SumRow[][] {
    const isOfSlots = ({ start, end }: { start: number; end: number }) =>
      this.#filter.key !== null &&
      start % slotMs === 0 &&
      end % slotMs === 0 &&
      this.#hasSlots({ from: start, to: end });
    const slotted = ranges.filter(isOfSlots);
    const [first, last] = [slotted[0], slotted.at(-1)];
    const rows = first && last ? this.#rowsBySlot({ from: first.start / slotMs, to: last.end / slotMs }) : [];
    const bySlot = Map.groupBy(rows, ({ slot }) => slot ?? 0);
    const isOfDays = (range: { start: number; end: number }) =>
      this.#filter.key !== null && !isOfSlots(range) && range.end - range.start >= daysRangeMin;
    const inDays = this.#inDays(ranges.filter(isOfDays));
    return ranges.map((range) => {
      const { start, end } = range;
      if (!isOfSlots(range) && !isOfDays(range)) return this.sum(start, end);
      const sums = new Map<string, SumRow>();
      if (isOfDays(range))
        for (const [rows, factor] of inDays(range)) for (const row of rows) this.#add(sums, row, factor);
      else
        for (let slot = start / slotMs; slot < end / slotMs; slot += 1)
          for (const row of bySlot.get(slot) ?? []) this.#add(sums, row, 1);
      if (end > this.#unfolded.from && start < this.#unfolded.to)
        for (const row of this.#unfoldedCalls(start, end)) this.#add(sums, row, 1);
      return [...sums.values()].filter(({ requests }) => requests > 0);
    });
  }

  /** Ranges as whole UTC days, and as the calls between each bound and the nearest day, which two ranges have in common. */
  #inDays(
    ranges: readonly { start: number; end: number }[],
  ): (range: { start: number; end: number }) => [Row[], 1 | -1][] {
    const [first, last] = [ranges[0], ranges.at(-1)];
    if (!first || !last) return () => [];
    const rows = this.#rowsByDay({ from: nearestDay(first.start), to: nearestDay(last.end) });
    const byDay = Map.groupBy(rows, ({ day }) => day ?? 0);
    const atBounds = new Map<number, Row[]>();
    const callsAt = (bound: number): Row[] => {
      const day = nearestDay(bound) * dayMs;
      if (bound === day) return [];
      const known = atBounds.get(bound);
      if (known) return known;
      const calls = this.#calls({ from: Math.min(bound, day), to: Math.max(bound, day) });
      atBounds.set(bound, calls);
      return calls;
    };
    return ({ start, end }) => {
      const [from, to] = [nearestDay(start), nearestDay(end)];
      const days = Array.from({ length: to - from }, (_, index) => byDay.get(from + index) ?? []);
      return [
        ...days.map((found): [Row[], 1] => [found, 1]),
        [callsAt(start), start < from * dayMs ? 1 : -1],
        [callsAt(end), end < to * dayMs ? -1 : 1],
      ];
    };
  }

  #add(sums: Map<string, SumRow>, row: Row, factor: 1 | -1): void {
    const names = this.#groups.map((_, index) => row[`group${index}`] ?? null);
    const id = names.join();
    let sum = sums.get(id);
    if (!sum) {
      sum = { names, ...zero() };
      sums.set(id, sum);
    }
    for (const column of summedColumns) sum[column] += factor * (row[column] ?? 0);
  }

  #addFolded(add: (rows: Row[], factor?: 1 | -1) => void, since: number, until: number): void {
    const { from, to } = this.#folded;
    // A bound beyond all calls cuts no day.
    const start = since <= from ? Math.floor(from / dayMs) * dayMs : since;
    const end = until >= to ? Math.ceil(to / dayMs) * dayMs : until;
    if (start >= end || from >= to) return;
    const days = { from: Math.ceil(start / dayMs), to: Math.floor(end / dayMs) };
    if (days.from > days.to) {
      this.#addPart(add, { from: start, to: end }, undefined);
      return;
    }
    const first = this.#cut({ from: start, to: days.from * dayMs }, -1);
    const last = this.#cut({ from: days.to * dayMs, to: end }, 1);
    const whole = { from: days.from - Number(first.isWhole), to: days.to + Number(last.isWhole) };
    if (whole.from < whole.to) add(this.#wholeDays(whole));
    for (const cut of [first, last]) this.#addPart(add, cut.part, cut);
  }

  /** What is read of a day of which a part is inside the range: that part, or the rest, to take away from the whole. */
  #cut(inside: Span, side: 1 | -1): { part: Span; isWhole: boolean } {
    const rest =
      side === 1
        ? { from: inside.to, to: inside.from + dayMs }
        : { from: inside.to - dayMs, to: inside.from };
    const isWhole =
      inside.from < inside.to && !this.#hasSlots(inside) && rest.to - rest.from < inside.to - inside.from;
    return { part: isWhole ? rest : inside, isWhole };
  }

  #addPart(
    add: (rows: Row[], factor?: 1 | -1) => void,
    part: Span,
    cut: { isWhole: boolean } | undefined,
  ): void {
    const factor = cut?.isWhole ? -1 : 1;
    const slots = { from: Math.ceil(part.from / slotMs), to: Math.floor(part.to / slotMs) };
    if (!this.#hasSlots(part) || slots.from >= slots.to) {
      if (part.from < part.to) add(this.#calls(part), factor);
      return;
    }
    add(this.#slots(slots), factor);
    for (const rest of [
      { from: part.from, to: slots.from * slotMs },
      { from: slots.to * slotMs, to: part.to },
    ])
      if (rest.from < rest.to) add(this.#calls(rest), factor);
  }

  /** Whether totals by quarter have these calls, by these filters and groups. */
  #hasSlots({ from }: Span): boolean {
    const { key, model, provider } = this.#filter;
    if (this.#groups.some(isLabel)) return from >= this.#labelsFrom && this.#hasNoFilter();
    if (key === null && !this.#groups.includes('key')) return from >= this.#totalsFrom;
    if (from < this.#keysFrom) return false;
    const isPlain = (group: SumGroup) => group === 'status' || group === 'key' || group === 'day';
    return model === null && provider === null && this.#groups.every(isPlain);
  }

  #wholeDays({ from, to }: Span): Row[] {
    const { key, provider, status } = this.#filter;
    const label = this.#groups.find(isLabel);
    if (label && this.#hasNoFilter()) {
      return this.#totals('usage_label_days', ofDays, {
        where: `kind = ${labelKinds[label]} AND day >= @from AND day < @to`,
        bounds: { from, to },
      });
    }
    if (label) return this.#calls({ from: from * dayMs, to: to * dayMs });
    if (
      this.#hasNoFilter() &&
      this.#groups.length === 2 &&
      this.#groups.includes('model') &&
      this.#groups.includes('key')
    )
      return this.#keySpans({ from, to }, { isByModel: true });
    const isByKey =
      this.#groups.includes('key') && this.#groups.every((group) => group === 'key' || group === 'day');
    if (isByKey && key === null && provider === null && status === null)
      return this.#groups.length === 1 ? this.#keySpans({ from, to }) : this.#keyDays({ from, to });
    const table = key !== null || this.#groups.includes('key') ? 'usage_key_days' : 'usage_days';
    return this.#totals(table, ofDays, {
      where: `${this.#filters('')} day >= @from AND day < @to`,
      bounds: { from, to },
    });
  }

  /**
   * Totals by key from `usage_keys`: of each key a row per long span, and at most half as many rows as a long span has days at
   * each end. By model, there are as many of each model that was used.
   */
  #keySpans({ from, to }: Span, { isByModel = false } = {}): Row[] {
    const active = `(SELECT DISTINCT model AS active_model FROM usage_days
      WHERE workspace = @workspace AND day >= @activeFrom AND day < @activeTo) AS active`;
    const table = isByModel ? `${active} CROSS JOIN usage_keys` : 'usage_keys';
    const model = isByModel ? 'active_model' : 'coalesce(@model, 0)';
    const first = Math.round(from / spanDays) * spanDays;
    const last = Math.round(to / spanDays) * spanDays;
    const read = (days: number, span: Span, factor: 1 | -1 = 1): Row[] => {
      if (span.from >= span.to) return [];
      const rows = this.#totals(table, ofDays, {
        where: `model = ${model} AND days = @days AND start >= @from AND start < @to`,
        bounds: { days, ...span, activeFrom: from, activeTo: to },
      });
      return factor === 1 ? rows : rows.map(negated);
    };
    if (first >= last) return read(1, { from, to });
    return [
      ...read(spanDays, { from: first, to: last }),
      ...read(1, { from, to: first }),
      ...read(1, { from: first, to: from }, -1),
      ...read(1, { from: last, to }),
      ...read(1, { from: to, to: last }, -1),
    ];
  }

  /** Totals by key and day from the short spans of `usage_keys`. */
  #keyDays({ from, to }: Span): Row[] {
    return this.#totals('usage_keys', (group) => (group === 'day' ? 'start' : ofDays(group)), {
      where: 'model = coalesce(@model, 0) AND days = 1 AND start >= @from AND start < @to',
      bounds: { from, to },
    });
  }

  /** Quarters of one day: `usage_keys` names the keys that were used on it, whose totals are then found one after another. */
  #keySlots({ from, to }: Span): Row[] {
    const active = `(SELECT key AS active_key FROM usage_keys
      WHERE workspace = @workspace AND model = 0 AND days = 1 AND start = @day) AS active`;
    return this.#totals(`${active} CROSS JOIN usage_key_slots`, ofSlots, {
      where: `key = active_key AND ${this.#filters('')} slot >= @from AND slot < @to`,
      bounds: { from, to, day: Math.floor(from / slotsPerDay) },
    });
  }

  /** Of one key, quarter by quarter. */
  #rowsBySlot(span: Span): Row[] {
    return this.#rowsBy('slot', 'usage_key_slots', span);
  }

  /** Of one key, day by day. */
  #rowsByDay(span: Span): Row[] {
    return this.#rowsBy('day', 'usage_key_days', span);
  }

  #rowsBy(time: 'slot' | 'day', table: string, { from, to }: Span): Row[] {
    const column = time === 'slot' ? ofSlots : ofDays;
    const names = this.#groups.map((_, index) => `, ${index + 2}`).join('');
    const sums = summedNames.map((name, index) => `sum(${name}) AS ${summedColumns[index]}`).join(', ');
    return this.#run(
      `SELECT ${time}, ${this.#names(column)} ${sums} FROM ${table}
       WHERE workspace = @workspace AND ${this.#filters('')} ${time} >= @from AND ${time} < @to GROUP BY 1${names}`,
      { from, to },
    );
  }

  #slots({ from, to }: Span): Row[] {
    const label = this.#groups.find(isLabel);
    if (label) {
      return this.#totals('usage_label_slots', ofSlots, {
        where: `kind = ${labelKinds[label]} AND slot >= @from AND slot < @to`,
        bounds: { from, to },
      });
    }
    const { key } = this.#filter;
    if (key === null && this.#groups.includes('key')) return this.#keySlots({ from, to });
    const table = key === null ? 'usage_slots' : 'usage_key_slots';
    return this.#totals(table, ofSlots, {
      where: `${this.#filters('')} slot >= @from AND slot < @to`,
      bounds: { from, to },
    });
  }

  #totals(
    table: string,
    column: (group: SumGroup) => string,
    { where, bounds }: { where: string; bounds: object },
  ): Row[] {
    const sums = summedNames.map((name, index) => `sum(${name}) AS ${summedColumns[index]}`).join(', ');
    return this.#run(
      `SELECT ${this.#names(column)} ${sums} FROM ${table} WHERE workspace = @workspace AND ${where} ${this.#grouping()}`,
      bounds,
    );
  }

  /** Calls of a range of time, one by one. */
  #calls({ from, to }: Span): Row[] {
    const { key, model } = this.#filter;
    if (this.#groups.includes('error') && this.#hasNoFilter() && from >= this.#totalsFrom)
      return this.#failedCalls({ from, to });
    const kind: IndexKind = key !== null ? 'key' : model !== null ? 'model' : 'all';
    return this.#run(
      `SELECT ${this.#names((group) => ofCalls[group])} ${addedUpCalls}
       FROM call_index CROSS JOIN calls ${this.#tags()}
       WHERE calls.number = call_index.number AND call_index.workspace = @workspace AND call_index.kind = ${indexKinds[kind]} AND call_index.value = @value
         AND call_index.completed_at >= @from AND call_index.completed_at < @to AND ${this.#filters('calls.')} TRUE
       ${this.#grouping()}`,
      { from, to, value: key ?? model ?? 0 },
    );
  }

  /** Those with an error code, which are few: the totals of days name the codes, and an index has the calls of each. */
  #failedCalls({ from, to }: Span): Row[] {
    return this.#run(
      `SELECT ${this.#names((group) => ofCalls[group])} ${addedUpCalls}
       FROM (SELECT DISTINCT value AS code FROM usage_label_days
           WHERE workspace = @workspace AND kind = ${labelKinds.error} AND day >= @fromDay AND day <= @toDay) AS codes
         CROSS JOIN call_index CROSS JOIN calls
       WHERE call_index.workspace = @workspace AND call_index.kind = ${indexKinds.errorCode} AND call_index.value = code
         AND call_index.completed_at >= @from AND call_index.completed_at < @to AND calls.number = call_index.number
       ${this.#grouping()}`,
      { from, to, fromDay: Math.floor(from / dayMs), toDay: Math.floor((to - 1) / dayMs) },
    );
  }

  #unfoldedCalls(since: number, until: number): Row[] {
    return this.#run(
      `SELECT ${this.#names((group) => ofCalls[group])} ${addedUpCalls} FROM calls ${this.#tags()}
       WHERE number > @foldedTo AND +calls.workspace = @workspace AND ${this.#filters('calls.')}
         calls.completed_at >= @since AND calls.completed_at < @until ${this.#grouping()}`,
      { since, until, foldedTo: this.#foldedTo },
    );
  }

  #hasNoFilter(): boolean {
    const { key, model, provider, status } = this.#filter;
    return key === null && model === null && provider === null && status === null;
  }

  #filters(prefix: string): string {
    const { workspace: _workspace, ...filters } = this.#filter;
    return Object.entries(filters)
      .map(([column, value]) => (value === null ? '' : `${prefix}${column} = @${column} AND`))
      .join(' ');
  }

  #tags(): string {
    return this.#groups.includes('tag') ? 'CROSS JOIN json_each(calls.tags)' : '';
  }

  #names(column: (group: SumGroup) => string): string {
    return this.#groups.map((group, index) => `${column(group)} AS group${index},`).join(' ');
  }

  #grouping(): string {
    return this.#groups.length === 0
      ? ''
      : `GROUP BY ${this.#groups.map((_, index) => index + 1).join(', ')}`;
  }

  #run(sql: string, bounds: object): Row[] {
    let run = this.#statements.get(sql);
    if (!run) {
      const statement = this.#database.prepare<[object], Row>(sql);
      run = (values) => statement.all({ ...this.#filter, ...values });
      this.#statements.set(sql, run);
    }
    return run(bounds);
  }
}

function negated(row: Row): Row {
  return {
    ...row,
    ...Object.fromEntries(summedColumns.map((column) => [column, -(row[column] ?? 0)])),
  };
}
