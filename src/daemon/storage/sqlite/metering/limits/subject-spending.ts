import {
  type PeriodSpend,
  type SpendCalendar,
  startOfPeriod,
} from '../../../../../shared/money/spend-periods.ts';
import type { SpendSubject } from '../../../../features/metering/rules/budget-rule.ts';
import type { Connection } from '../../engine/connection.ts';
import { indexKinds } from '../usage/index-kinds.ts';
import { slotMs, slotsFrom, totalsFrom } from '../usage/slot-totals.ts';
import { tagNumber } from '../usage/summed-columns.ts';
import { dayMs, foldedTo } from '../usage/usage-totals.ts';
import { filteredSpending } from './filtered-spending.ts';
import { byPeriod, type Starts, slotOf } from './spend-sums.ts';

/** A key and all its descendants, or an autopilot. */
export const keyTree = `WITH RECURSIVE tree (id) AS (
  SELECT coalesce((SELECT id FROM keys WHERE id = @keyId), @keyId) UNION SELECT keys.id FROM keys JOIN tree ON keys.parent_id = tree.id)`;

/** The numbers of the names in `keyTree`. */
export const keyNumbers = 'SELECT number FROM tree CROSS JOIN names WHERE text = tree.id';

/** Also the UTC days in whose middle one begins, as JSON. */
type Bounds = Starts & { edges: string };

/** In place of the number of a name that no call has. */
const unused = -1;
const slotsPerDay = dayMs / slotMs;

const hasTag = `EXISTS (SELECT 1 FROM json_each(calls.tags) WHERE ${tagNumber} = @value)`;
const dayOf = `calls.completed_at / ${dayMs}`;
const unfolded = `SELECT ${slotOf} AS slot, charged AS amount FROM calls WHERE number > @foldedTo`;
const edges = 'SELECT CAST(value AS bigint) AS day FROM json_each(@edges)';
const isOfEdge = (slot: string, perDay: number) =>
  `${slot} >= edges.day * ${perDay} AND ${slot} < (edges.day + 1) * ${perDay}`;

/** How the charges of a kind of subject are found. */
interface Source {
  prefix?: string;
  /** Those of whole UTC days but the edges, from totals by day; `isOther(day)` is a condition. */
  days: (isOther: (day: string) => string) => string;
  /** Those of the edges, from totals by quarter of an hour, and call by call. */
  slots: string;
  calls: string;
  /** Those that are in neither, yet; `ofEdges`: the totals by day have them. */
  unfolded: string;
  ofEdges?: true;
}

/** The totals by quarter of an hour of a table whose rows a condition selects. */
const slotRows = (table: string, where: string) =>
  `SELECT slot, charged FROM (${edges}) AS edges CROSS JOIN ${table}
   WHERE ${where} AND ${isOfEdge('slot', slotsPerDay)}`;

const indexed = (value: string) =>
  `SELECT ${slotOf}, calls.charged FROM (${edges}) AS edges CROSS JOIN call_index AS found CROSS JOIN calls
   WHERE calls.number = found.number AND found.workspace = @workspace AND found.kind = @kind AND ${value}
     AND ${isOfEdge('found.completed_at', dayMs)}`;

const ofUsage = (where: string): Omit<Source, 'calls'> => ({
  days: (isOther) =>
    `SELECT day * ${slotsPerDay} AS slot, charged AS amount FROM usage_days
     WHERE workspace = @workspace AND ${where} AND ${isOther('day')}`,
  slots: slotRows('usage_slots', `workspace = @workspace AND ${where}`),
  unfolded: `${unfolded} AND +workspace = @workspace AND ${where}`,
});

const ofLabel = (isOfLabel: string): Source => ({
  // Each day is looked up by itself: its rows are ordered by value, and there may be thousands.
  prefix: `WITH RECURSIVE days (day) AS (
       SELECT max(@completeFrom, (SELECT min(day) FROM usage_label_days WHERE workspace = @workspace AND kind = @kind))
       UNION ALL SELECT day + 1 FROM days WHERE day < (
         SELECT max(day) FROM usage_label_days WHERE workspace = @workspace AND kind = @kind)),
     counted (day, amount) AS (
       SELECT days.day, (SELECT charged FROM usage_label_days AS own WHERE own.workspace = @workspace
         AND own.kind = @kind AND own.day = days.day AND own.value = @value)
       FROM days)`,
  days: (isOther) =>
    `SELECT day * ${slotsPerDay} AS slot, amount FROM counted WHERE amount IS NOT NULL AND ${isOther('day')}
     UNION ALL SELECT ${slotOf}, calls.charged FROM counted
       JOIN usage_label_days AS others ON others.workspace = @workspace AND others.kind = @kind
         AND others.day = counted.day AND others.value = 0
       CROSS JOIN call_index AS found CROSS JOIN calls
       WHERE counted.amount IS NULL AND ${isOther('counted.day')} AND calls.number = found.number
         AND found.workspace = @workspace AND found.kind = @kind AND found.value = @value
         AND found.completed_at >= counted.day * ${dayMs} AND found.completed_at < (counted.day + 1) * ${dayMs}
     UNION ALL SELECT ${slotOf}, calls.charged FROM call_index AS found
       CROSS JOIN calls WHERE calls.number = found.number AND found.workspace = @workspace AND found.kind = @kind AND found.value = @value
         AND found.completed_at < @completeFrom * ${dayMs} AND ${isOther(dayOf)}`,
  slots: slotRows('usage_label_slots', 'workspace = @workspace AND kind = @kind AND value = @value'),
  calls: indexed('found.value = @value'),
  unfolded: `${unfolded} AND +workspace = @workspace AND ${isOfLabel}`,
});

const newKeys = 'SELECT CAST(value AS bigint) FROM json_each(@newKeys)';
const ofWorkspaceOfKey =
  'workspace = (SELECT number FROM names WHERE text = (SELECT workspace_id FROM keys WHERE id = @keyId))';

const ofKey: Source = {
  prefix: keyTree,
  days: (isOther) =>
    `SELECT unixepoch(day) / 86400 * ${slotsPerDay} AS slot, amount FROM key_spend
     WHERE key_id IN (SELECT id FROM tree) AND ${isOther('unixepoch(day) / 86400')}`,
  slots: slotRows('usage_key_slots', `${ofWorkspaceOfKey} AND key IN (${keyNumbers})`),
  calls: `SELECT ${slotOf}, calls.charged FROM (${edges}) AS edges CROSS JOIN call_index AS found CROSS JOIN calls
    WHERE calls.number = found.number AND found.${ofWorkspaceOfKey} AND found.kind = ${indexKinds.key}
      AND found.value IN (${keyNumbers}) AND ${isOfEdge('found.completed_at', dayMs)}`,
  unfolded: `${unfolded} AND ${dayOf} IN (${edges}) AND (+key IN (${keyNumbers}) OR +key IN (${newKeys}))`,
  ofEdges: true,
};

/** Kinds of subjects whose calls have totals. */
type SummedKind = Exclude<SpendSubject['kind'], 'where'>;

const sources: Record<SummedKind, Source> = {
  workspace: { ...ofUsage('TRUE'), calls: indexed('found.value = 0') },
  model: { ...ofUsage('model = @value'), calls: indexed('found.value = @value') },
  provider: { ...ofUsage('provider = @value'), calls: indexed('found.value = @value') },
  key: ofKey,
  user: ofLabel('end_user = @value'),
  tag: ofLabel(hasTag),
};

const kinds = {
  workspace: indexKinds.all,
  model: indexKinds.model,
  provider: indexKinds.provider,
  key: indexKinds.key,
  user: indexKinds.user,
  tag: indexKinds.tag,
};

interface Bound extends Bounds {
  keyId: string;
  workspace: number;
  kind: number;
  value: number;
  foldedTo: number;
  completeFrom: number;
  newKeys: string;
}

type SummedSubject = SpendSubject & { kind: SummedKind };

interface ReadOptions {
  /** The periods are those of this time. */
  at: number;
  /** The numbers of names of the key and its descendants that are not in the table of names yet. */
  newKeys?: readonly number[];
  /** Of a filter: only calls with a higher number. */
  after?: number;
  /** Names that are not in the table of names yet. */
  newNames?: Iterable<readonly [number: number, text: string]>;
}

/**
 * Reads what the calls of a subject were charged; to be called in a transaction. It adds up totals
 * by day and the calls that are not folded yet; of a day in whose middle a period begins, totals by quarter of an hour. Labels of a day
 * on which there were too many are read call by call, and so are days that began before those totals. `numberOf` finds
 * the number of a name, in place of the table of names.
 */
export function subjectSpending(
  database: Connection,
  numberOf: (name: string) => number | undefined = nameNumbers(database),
) {
  const prepare = ({ prefix = '', days, slots, calls, unfolded: late, ofEdges }: Source) => {
    const isOther = (day: string) => `${day} NOT IN (${edges})`;
    const sum = (...rows: string[]) =>
      database.prepare<[Bound], PeriodSpend>(
        `${prefix} SELECT ${byPeriod} FROM (${rows.join(' UNION ALL ')}) AS spent`,
      );
    const whole = sum(
      days(() => 'TRUE'),
      ...(ofEdges ? [] : [late]),
    );
    let bySlots: typeof whole | undefined;
    let byCalls: typeof whole | undefined;
    return {
      whole,
      bySlots: () => (bySlots ??= sum(days(isOther), slots, late)),
      byCalls: () => (byCalls ??= sum(days(isOther), calls, late)),
    };
  };
  // Most databases have budgets of few kinds.
  const prepared = new Map<SummedKind, ReturnType<typeof prepare>>();
  const preparedFor = (kind: SummedKind) => {
    const known = prepared.get(kind) ?? prepare(sources[kind]);
    prepared.set(kind, known);
    return known;
  };
  const hasOthers = database
    .prepare<[Pick<Bound, 'workspace' | 'kind' | 'edges'>], number>(
      `SELECT count(*) FROM usage_label_days
       WHERE workspace = @workspace AND kind = @kind AND day IN (${edges}) AND value = 0`,
    )
    .pluck();

  /** Whether the totals by quarter of an hour have all calls of the edges. */
  const isInSlots = (kind: SummedKind, days: readonly number[], bound: Bound): boolean => {
    const isLabel = kind === 'user' || kind === 'tag';
    const from = isLabel ? slotsFrom(database) : totalsFrom(database);
    if (days.some((day) => day * dayMs < from)) return false;
    return !isLabel || hasOthers.get(bound) === 0;
  };

  const all = (
    { workspaceId, kind, value }: SummedSubject,
    { days, bounds, newKeys: added }: { days: readonly number[]; bounds: Bounds; newKeys: readonly number[] },
  ): PeriodSpend | undefined => {
    const workspace = kind === 'key' ? unused : numberOf(workspaceId);
    const number = kind === 'key' || kind === 'workspace' ? unused : numberOf(value);
    if (workspace === undefined || number === undefined) return undefined;
    const bound: Bound = {
      ...bounds,
      keyId: value,
      workspace,
      kind: kinds[kind],
      value: number,
      foldedTo: foldedTo(database),
      completeFrom: Math.ceil(totalsFrom(database) / dayMs),
      newKeys: JSON.stringify(added),
    };
    const { whole, bySlots, byCalls } = preparedFor(kind);
    if (days.length === 0) return whole.get(bound);
    return (isInSlots(kind, days, bound) ? bySlots() : byCalls()).get(bound);
  };

  const filtered = filteredSpending(database, numberOf);
  const ofFilter = ({ workspaceId, value }: SpendSubject, starts: Starts, options: ReadOptions) => {
    const workspace = numberOf(workspaceId);
    if (workspace === undefined) return undefined;
    const { after, newNames } = options;
    return filtered({ workspace, filter: value, starts, after, newNames });
  };
  const ofTotals = (subject: SummedSubject, starts: Starts, { newKeys: added = [] }: ReadOptions) => {
    const days = edgesOf(starts);
    return all(subject, { days, bounds: { ...starts, edges: JSON.stringify(days) }, newKeys: added });
  };

  return (subject: SpendSubject, options: ReadOptions): PeriodSpend => {
    const starts = startsAt(options.at, subject.calendar);
    const { kind } = subject;
    const spent =
      kind === 'where' ? ofFilter(subject, starts, options) : ofTotals({ ...subject, kind }, starts, options);
    return spent ?? { day: 0, week: 0, month: 0, none: 0 };
  };
}

function nameNumbers(database: Connection) {
  const find = database.prepare<[string], number>('SELECT number FROM names WHERE text = ?').pluck();
  return (name: string) => find.get(name);
}

function startsAt(at: number, calendar: SpendCalendar | undefined): Starts {
  const start = (period: 'day' | 'week' | 'month') => startOfPeriod(period, at, calendar) / slotMs;
  return { day: start('day'), week: start('week'), month: start('month') };
}

/** The UTC days in whose middle a period begins. */
function edgesOf({ day, week, month }: Starts): number[] {
  const within = [day, week, month].filter((start) => start % slotsPerDay !== 0);
  return [...new Set(within.map((start) => Math.floor(start / slotsPerDay)))];
}

/** Whether a UTC day, like `2026-11-21`, is read call by call, as a period begins in its middle. */
export function isEdge(day: string, at: number, calendar: SpendCalendar | undefined): boolean {
  return calendar !== undefined && edgesOf(startsAt(at, calendar)).includes(Date.parse(day) / dayMs);
}
