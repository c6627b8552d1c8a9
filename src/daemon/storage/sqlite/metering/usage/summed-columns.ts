import { sqlName } from '../../engine/row-format.ts';

/** The summed columns of the tables of totals, and how they are computed from a row of `calls`. */
const summed = {
  requests: '1',
  unpriced: 'CASE WHEN cost_provider IS NULL THEN 1 ELSE 0 END',
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

/** SELECT terms that add up calls. */
export const callSumTerms = summedColumns.map((column) => `sum(${summed[column]})`).join(', ');

/** The same of some columns, by their names. */
export const sumsOfCalls = (columns: readonly (keyof UsageSums)[]) =>
  columns.map((column) => `sum(${summed[column]}) AS ${column}`).join(', ');

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

/** Stands for the tag of a call that has none. */
export const untagged = -1;

/** Has a row for each tag of a call, or one for none. */
export const tagsOfCalls = `json_each(coalesce(calls.tags, '[${untagged}]'))`;

/** The number of a tag's name, in a row of `json_each(calls.tags)`. */
export const tagNumber = 'CAST(json_each.value AS bigint)';

/** Creates a table of integers that only this connection sees. */
export function temporaryTable(name: string, columns: string): string {
  return `CREATE TEMP TABLE IF NOT EXISTS ${name} (${columns.replaceAll(',', ' bigint,')} bigint)`;
}
