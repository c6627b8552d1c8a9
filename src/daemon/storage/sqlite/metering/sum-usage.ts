import type { Connection } from '../engine/connection.ts';
import { type IndexKind, indexKinds } from './index-kinds.ts';
import { labelKinds, slotMs, totalsFrom } from './slot-totals.ts';
import { addedUpCalls, summedColumns, summedNames, type UsageSums } from './summed-columns.ts';
import { dayMs, foldedTo, spanDays } from './usage-totals.ts';

/** What calls are added up by: UTC days, numbers of names, or none of a name. */
export type SumGroup = 'day' | 'model' | 'provider' | 'status' | 'key' | 'client' | 'user' | 'tag';

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

/** A group as a column of `calls`, or of a table of totals. */
const ofCalls: Record<SumGroup, string> = {
  day: `calls.completed_at / ${dayMs}`,
  model: 'calls.model',
  provider: 'calls.provider',
  status: 'calls.status',
  key: 'calls.key',
  client: 'calls.client',
  user: 'calls.end_user',
  tag: 'json_each.value',
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
    if (from < this.#totalsFrom || this.#groups.some(isLabel)) return false;
    if (key === null) return !this.#groups.includes('key');
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
    const isByKey = this.#groups.length === 1 && this.#groups[0] === 'key';
    if (isByKey && key === null && provider === null && status === null) return this.#keySpans({ from, to });
    const table = key !== null || this.#groups.includes('key') ? 'usage_key_days' : 'usage_days';
    return this.#totals(table, ofDays, {
      where: `${this.#filters('')} day >= @from AND day < @to`,
      bounds: { from, to },
    });
  }

  /**
   * Totals by key from `usage_keys`: of each key a row per long span, and at most half as many rows as a long span has days at
   * each end.
   */
  #keySpans({ from, to }: Span): Row[] {
    const first = Math.round(from / spanDays) * spanDays;
    const last = Math.round(to / spanDays) * spanDays;
    const read = (days: number, span: Span, factor: 1 | -1 = 1): Row[] => {
      if (span.from >= span.to) return [];
      const rows = this.#totals('usage_keys', ofDays, {
        where: 'model = coalesce(@model, 0) AND days = @days AND start >= @from AND start < @to',
        bounds: { days, ...span },
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

  #slots({ from, to }: Span): Row[] {
    const table = this.#filter.key === null ? 'usage_slots' : 'usage_key_slots';
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
    const kind: IndexKind = key !== null ? 'key' : model !== null ? 'model' : 'all';
    return this.#run(
      `SELECT ${this.#names((group) => ofCalls[group])} ${addedUpCalls}
       FROM call_index CROSS JOIN calls USING (number) ${this.#tags()}
       WHERE call_index.workspace = @workspace AND kind = ${indexKinds[kind]} AND call_index.value = @value
         AND call_index.completed_at >= @from AND call_index.completed_at < @to AND ${this.#filters('calls.')} TRUE
       ${this.#grouping()}`,
      { from, to, value: key ?? model ?? 0 },
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
