import { type PeriodSpend, startOfPeriod } from '../../../../../shared/money/spend-periods.ts';
import type { LedgerStore } from '../../../../features/metering/ledger-store.ts';
import type { SpendSubject } from '../../../../features/metering/rules/budget-rule.ts';
import type { Connection } from '../../engine/connection.ts';
import { indexKinds } from '../usage/index-kinds.ts';
import { totalsFrom } from '../usage/slot-totals.ts';
import { tagNumber } from '../usage/summed-columns.ts';
import { dayMs, foldedTo } from '../usage/usage-totals.ts';
import { keyNumbers, keyTree } from './spending.ts';

/** The days of periods since 1970, as statements take them. */
interface Days {
  day: number;
  week: number;
  month: number;
}

/** In place of the number of a name that no call has. */
const unused = -1;

/** Sums of rows with an `amount` and a `day` since 1970. */
const byPeriod = `coalesce(sum(amount), 0) AS none,
  coalesce(sum(amount) FILTER (WHERE day >= @month), 0) AS month,
  coalesce(sum(amount) FILTER (WHERE day >= @week), 0) AS week,
  coalesce(sum(amount) FILTER (WHERE day >= @day), 0) AS day`;

const hasTag = `EXISTS (SELECT 1 FROM json_each(calls.tags) WHERE ${tagNumber} = @value)`;
const dayOf = `calls.completed_at / ${dayMs}`;
const unfolded = `SELECT ${dayOf} AS day, charged AS amount FROM calls WHERE number > @foldedTo`;

/**
 * Reads what the calls of a subject were charged, without those in `except`; to be called in a transaction. It adds up totals by day and the calls that are not folded yet. Labels of a day
 * on which there were too many are read call by call, and so are days that began before the totals of labels. `numberOf` finds
 * the number of a name, in place of the table of names.
 */
export function subjectSpending(
  database: Connection,
  numberOf: (name: string) => number | undefined = nameNumbers(database),
) {
  type Bound = Days & { foldedTo: number };
  const ofKey = database.prepare<[Days & { keyId: string }], PeriodSpend>(
    `${keyTree}
     SELECT ${byPeriod} FROM (SELECT unixepoch(day) / 86400 AS day, amount FROM key_spend
       WHERE key_id IN (SELECT id FROM tree)) AS spent`,
  );
  const ofWorkspace = database.prepare<[Bound & { workspace: number }], PeriodSpend>(
    `SELECT ${byPeriod} FROM (
       SELECT day, charged AS amount FROM usage_days WHERE workspace = @workspace
       UNION ALL ${unfolded} AND +workspace = @workspace) AS spent`,
  );
  type Labelled = Bound & { workspace: number; kind: number; value: number; completeFrom: number };
  const ofLabel = (isOfLabel: string) =>
    database.prepare<[Labelled], PeriodSpend>(
      // Each day is looked up by itself: its rows are ordered by value, and there may be thousands.
      `WITH RECURSIVE days (day) AS (
         SELECT max(@completeFrom, (SELECT min(day) FROM usage_label_days WHERE workspace = @workspace AND kind = @kind))
         UNION ALL SELECT day + 1 FROM days WHERE day < (
           SELECT max(day) FROM usage_label_days WHERE workspace = @workspace AND kind = @kind)),
       counted (day, amount) AS (
         SELECT days.day, (SELECT charged FROM usage_label_days AS own WHERE own.workspace = @workspace
           AND own.kind = @kind AND own.day = days.day AND own.value = @value)
         FROM days)
       SELECT ${byPeriod} FROM (
         SELECT day, amount FROM counted WHERE amount IS NOT NULL
         UNION ALL SELECT ${dayOf}, calls.charged FROM counted
           JOIN usage_label_days AS others ON others.workspace = @workspace AND others.kind = @kind
             AND others.day = counted.day AND others.value = 0
           CROSS JOIN call_index AS found CROSS JOIN calls
           WHERE counted.amount IS NULL AND calls.number = found.number
             AND found.workspace = @workspace AND found.kind = @kind AND found.value = @value
             AND found.completed_at >= counted.day * ${dayMs} AND found.completed_at < (counted.day + 1) * ${dayMs}
         UNION ALL SELECT ${dayOf}, calls.charged FROM call_index AS found
           CROSS JOIN calls WHERE calls.number = found.number AND found.workspace = @workspace AND found.kind = @kind AND found.value = @value
             AND found.completed_at < @completeFrom * ${dayMs}
         UNION ALL ${unfolded} AND +workspace = @workspace AND ${isOfLabel}) AS spent`,
    );
  const labels = {
    user: { kind: indexKinds.user, read: ofLabel('end_user = @value') },
    tag: {
      kind: indexKinds.tag,
      read: ofLabel(hasTag),
    },
  };
  type Some = Days & { requestIds: string; workspace: number; keyId: string; value: number };
  const some = (isOfSubject: string, prefix = '') =>
    database.prepare<[Some], PeriodSpend>(
      `${prefix} SELECT ${byPeriod} FROM (
         SELECT ${dayOf} AS day, charged AS amount FROM calls
         WHERE request_id IN (SELECT value FROM json_each(@requestIds)) AND ${isOfSubject}) AS spent`,
    );
  const ofCalls = {
    workspace: some('+workspace = @workspace'),
    user: some('+workspace = @workspace AND end_user = @value'),
    tag: some(`+workspace = @workspace AND ${hasTag}`),
    key: some(`(+key IN (${keyNumbers}) OR +budget IN (${keyNumbers}))`, keyTree),
  };

  const all = ({ workspaceId, kind, value }: SpendSubject, days: Days): PeriodSpend | undefined => {
    if (kind === 'key') return ofKey.get({ ...days, keyId: value });
    const workspace = numberOf(workspaceId);
    if (workspace === undefined) return undefined;
    const bound = { ...days, workspace, foldedTo: foldedTo(database) };
    if (kind === 'workspace') return ofWorkspace.get(bound);
    const number = numberOf(value);
    if (number === undefined) return undefined;
    const label = labels[kind];
    const completeFrom = Math.ceil(totalsFrom(database) / dayMs);
    return label.read.get({ ...bound, kind: label.kind, value: number, completeFrom });
  };

  const among = ({ workspaceId, kind, value }: SpendSubject, days: Days, except: readonly string[]) => {
    if (except.length === 0) return undefined;
    return ofCalls[kind].get({
      ...days,
      requestIds: JSON.stringify(except),
      workspace: numberOf(workspaceId) ?? unused,
      keyId: value,
      value: numberOf(value) ?? unused,
    });
  };

  return (subject: SpendSubject, { at, except }: Parameters<LedgerStore['subjectSpend']>[1]): PeriodSpend => {
    const days = daysOf(at);
    const spent = all(subject, days);
    const left = among(subject, days, except);
    const rest = (period: keyof PeriodSpend) => (spent?.[period] ?? 0) - (left?.[period] ?? 0);
    return { day: rest('day'), week: rest('week'), month: rest('month'), none: rest('none') };
  };
}

function nameNumbers(database: Connection) {
  const find = database.prepare<[string], number>('SELECT number FROM names WHERE text = ?').pluck();
  return (name: string) => find.get(name);
}

function daysOf(at: number): Days {
  const start = (period: 'day' | 'week' | 'month') => startOfPeriod(period, at) / dayMs;
  return { day: start('day'), week: start('week'), month: start('month') };
}
