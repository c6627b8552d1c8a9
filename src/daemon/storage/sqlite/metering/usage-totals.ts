import type { Connection } from '../engine/connection.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';
import { sqlName } from '../engine/row-format.ts';

export const dayMs = 86_400_000;

/** After so many calls the writer folds them: takes 2 ms. Reads look at the calls that are not folded one by one. */
const foldedAtOnce = 512;

/** The length of the longer spans in `usage_keys`; the others are days. */
export const spanDays = 32;

/** The summed columns of the tables of totals, and how they are computed from a row of `calls`. */
const summed = {
  requests: '1',
  unpriced: 'cost_provider IS NULL',
  input: 'input',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  output: 'output',
  reasoning: 'reasoning',
  costProvider: 'coalesce(cost_provider, 0)',
  costMargin: 'coalesce(cost_margin, 0)',
  charged: 'charged',
};

export type UsageSums = Record<keyof typeof summed, number>;

export const summedColumns = Object.keys(summed) as (keyof UsageSums)[];
export const summedNames = summedColumns.map(sqlName);

/** How a row of `calls` is read like a row of totals, by the names of its columns. */
export const callSums = Object.fromEntries(summedColumns.map((column) => [sqlName(column), summed[column]]));

/** SELECT terms that read a call like a row of totals, with the sign of the factor. */
export function callAsSums(factor: 1 | -1): string {
  const sign = factor === 1 ? '' : '-';
  return summedColumns.map((column) => `${sign}(${summed[column]}) AS ${sqlName(column)}`).join(', ');
}

/** SELECT terms from expressions by their names. */
export function asTerms(expressions: Readonly<Record<string, string>>): string {
  return Object.entries(expressions)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(', ');
}

/**
 * What `call_index` lists calls by: all of a workspace (value 0), those of a key, model or provider, and those with a status
 * other than `completed`.
 */
export const indexKinds = { all: 0, key: 1, model: 2, provider: 3, status: 4 } as const;
export type IndexKind = keyof typeof indexKinds;

/** The number of the last folded call, or a number before the first call. */
export function foldedTo(database: Connection): number {
  return readMeta(database, 'folded_to') ?? Number.MIN_SAFE_INTEGER;
}

/**
 * Adds calls to the daily totals and to `call_index`, many at once: several B-trees per call would double the pages that a
 * settlement writes. Folding is part of a settlement's transaction, so that totals, index and `folded_to` always agree.
 */
export class UsageTotals {
  readonly #database: Connection;
  readonly #statements: { run(range: object): unknown }[];
  #foldedTo: number;
  #foldedToAtStart: number;

  constructor(database: Connection) {
    this.#database = database;
    database.exec(foldingTable);
    this.#statements = foldStatements.map((sql) => database.prepare<[object]>(sql));
    this.#foldedTo = foldedTo(database);
    this.#foldedToAtStart = this.#foldedTo;
  }

  begin(): void {
    this.#foldedToAtStart = this.#foldedTo;
  }

  /** Folds the calls up to the last one, if there are enough. */
  flush(last: number): void {
    if (last - this.#foldedTo >= foldedAtOnce) this.fold(last);
  }

  /** Folds the calls up to the last one, however few they are. */
  fold(last: number): void {
    for (const statement of this.#statements) statement.run({ after: this.#foldedTo, last });
    writeMeta(this.#database, 'folded_to', last);
    this.#foldedTo = last;
  }

  /** Discards the batch after its ROLLBACK. */
  revert(): void {
    this.#foldedTo = this.#foldedToAtStart;
  }
}

const names = summedNames.join(', ');
const adding = summedNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');
const adds = summedNames.map((name) => `sum(${name})`).join(', ');
const callSumTerms = summedColumns.map((column) => `sum(${summed[column]})`).join(', ');
const groups = 'day, model, provider, status';

/** The groups of `usage_key_days`, computed from a row of `calls`. */
export const callGroups = {
  workspace: 'workspace',
  key: 'coalesce(key, 0)',
  day: `completed_at / ${dayMs}`,
  model: 'model',
  provider: 'coalesce(provider, 0)',
  status: 'status',
};

/** What a row with a day and a model adds to in `usage_keys`: the four rows that a join with this makes of it. */
export const keySpans = `(SELECT 1 AS days UNION ALL SELECT ${spanDays}) CROSS JOIN (SELECT 0 AS by_model UNION ALL SELECT 1)`;

/** The groups of `usage_keys`, computed from a row that is joined with `keySpans`. */
export const keySpanGroups = {
  workspace: 'workspace',
  model: 'model * by_model',
  days: 'days',
  start: 'day / days * days',
  key: 'key',
};

/** The totals of the calls that are being folded, by the groups of `usage_key_days`: all other totals are sums of these. */
const foldingTable = `CREATE TEMP TABLE IF NOT EXISTS folding (workspace, key, ${groups}, ${names})`;

const indexRows = (kind: IndexKind, value: string, where = 'TRUE') =>
  `SELECT workspace, ${indexKinds[kind]}, ${value}, completed_at, number FROM calls
   WHERE number > @after AND number <= @last AND ${where}`;

// "WHERE TRUE" keeps SQLite from reading ON as the start of a join.
const foldStatements = [
  `INSERT INTO folding (workspace, key, ${groups}, ${names})
   SELECT ${asTerms(callGroups)}, ${callSumTerms} FROM calls WHERE number > @after AND number <= @last GROUP BY 1, 2, 3, 4, 5, 6`,
  `INSERT INTO usage_key_days (workspace, key, ${groups}, ${names})
   SELECT workspace, key, ${groups}, ${names} FROM folding WHERE TRUE
   ON CONFLICT DO UPDATE SET ${adding}`,
  `INSERT INTO usage_days (workspace, ${groups}, ${names})
   SELECT workspace, ${groups}, ${adds} FROM folding WHERE TRUE GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT DO UPDATE SET ${adding}`,
  `INSERT INTO usage_keys (workspace, model, days, start, key, ${names})
   SELECT ${asTerms(keySpanGroups)}, ${adds} FROM folding CROSS JOIN ${keySpans} WHERE TRUE GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT DO UPDATE SET ${adding}`,
  'DELETE FROM folding',
  `INSERT INTO call_index (workspace, kind, value, completed_at, number)
   ${[
     indexRows('all', '0'),
     indexRows('key', 'key', 'key IS NOT NULL'),
     indexRows('model', 'model'),
     indexRows('provider', 'provider', 'provider IS NOT NULL'),
     indexRows('status', 'status', `status <> 1`),
   ].join(' UNION ALL ')}
   ORDER BY 1, 2, 3, 4, 5`,
];
