import { termsOfFilter } from '../../../../../shared/calls/budget-filter.ts';
import { isLike, isPattern, type QueryTerm, type QueryWord } from '../../../../../shared/calls/query.ts';
import type { PeriodSpend } from '../../../../../shared/money/spend-periods.ts';
import type { Connection } from '../../engine/connection.ts';
import { indexKinds } from '../usage/index-kinds.ts';
import { slotMs } from '../usage/slot-totals.ts';
import { tagNumber } from '../usage/summed-columns.ts';
import { foldedTo } from '../usage/usage-totals.ts';
import { byPeriod, type Starts, slotOf } from './spend-sums.ts';

/** Filters whose statements are kept prepared. */
const preparedMax = 500;

const columns: Partial<Record<QueryWord, string>> = {
  endpoint: 'calls.endpoint',
  model: 'calls.model',
  provider: 'calls.provider',
  key: 'calls.key',
  client: 'calls.client',
  user: 'calls.end_user',
  conversation: 'calls.conversation',
  replay: 'calls.replay_of',
  tag: tagNumber,
};

interface Read {
  workspace: number;
  filter: string;
  starts: Starts;
  /** Only the calls with a higher number. */
  after: number | undefined;
  /** Names that are not in the table of names yet. */
  newNames?: Iterable<readonly [number: number, text: string]> | undefined;
}

const rows = (from: string, where: string) =>
  `SELECT ${slotOf} AS slot, calls.charged AS amount FROM ${from}
   WHERE ${where} AND calls.completed_at >= @from AND `;
const sources = {
  all: [
    rows(
      'call_index AS found CROSS JOIN calls',
      `calls.number = found.number AND found.workspace = @workspace AND found.kind = ${indexKinds.all} AND found.value = 0
       AND found.completed_at >= @from`,
    ),
    rows('calls', 'calls.number > @after AND +calls.workspace = @workspace'),
  ],
  after: [rows('calls', 'calls.number > @after AND +calls.workspace = @workspace')],
};

/** Reads what the calls that a filter selects were charged since the periods began, call by call. */
export function filteredSpending(database: Connection, numberOf: (name: string) => number | undefined) {
  const preparing = (sql: string) => database.prepare<[object], PeriodSpend>(sql);
  const prepared = new Map<string, ReturnType<typeof preparing>>();
  const prepare = (source: keyof typeof sources, condition: string) => {
    const sql = `SELECT ${byPeriod} FROM (${sources[source].map((each) => each + condition).join(' UNION ALL ')}) AS spent`;
    const known = prepared.get(sql) ?? preparing(sql);
    if (prepared.size >= preparedMax) prepared.clear();
    prepared.set(sql, known);
    return known;
  };

  return ({ workspace, filter, starts, after, newNames = [] }: Read): PeriodSpend | undefined => {
    const values: Record<string, string> = {};
    const added = [...newNames];
    const condition = termsOfFilter(filter)
      .map((term, index) => conditionOf(term, `term${index}`, { values, numberOf, added }))
      .join(' AND ');
    return prepare(after === undefined ? 'all' : 'after', condition).get({
      ...starts,
      ...values,
      workspace,
      from: Math.min(starts.day, starts.week, starts.month) * slotMs,
      after: after ?? foldedTo(database),
    });
  };
}

interface Numbering {
  /** What the condition binds. */
  values: Record<string, string>;
  numberOf: (name: string) => number | undefined;
  added: readonly (readonly [number: number, text: string])[];
}

function conditionOf(
  { word, values: given, isExcluded, isExact = false }: QueryTerm,
  name: string,
  { values, numberOf, added }: Numbering,
): string {
  const column = columns[word];
  if (column === undefined) throw new TypeError(`no call is known by its ${word} when it is admitted`);
  const plain = given.filter((value) => !isPattern(value, { isExact }));
  // A client is meant in any version.
  const versions = word === 'client' && !isExact ? plain.map((value) => `${value}/*`) : [];
  const patterns = [...given.filter((value) => isPattern(value, { isExact })), ...versions];
  const numbers = [
    ...plain.flatMap((value) => numberOf(value) ?? []),
    ...added
      .filter(([, text]) => patterns.some((pattern) => isLike(text, pattern)))
      .map(([number]) => number),
  ];
  values[name] = JSON.stringify(numbers);
  const any = [`${column} IN (SELECT CAST(listed.value AS bigint) FROM json_each(@${name}) AS listed)`];
  if (patterns.length > 0) {
    const globs = patterns.map((pattern, index) => {
      values[`${name}_${index}`] = pattern.replaceAll(/[[?]/g, '[$&]');
      return `glob(@${name}_${index}, text)`;
    });
    any.push(`EXISTS (SELECT 1 FROM names WHERE names.number = ${column} AND (${globs.join(' OR ')}))`);
  }
  const condition = `(${any.join(' OR ')})`;
  const whole =
    word === 'tag' ? `EXISTS (SELECT 1 FROM json_each(calls.tags) WHERE ${condition})` : condition;
  return isExcluded ? `(${whole}) IS NOT TRUE` : whole;
}
