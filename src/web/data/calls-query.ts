import {
  type CallQuery,
  formatQuery,
  isQueryFault,
  parseQuery,
  type QueryTerm,
  type QueryWord,
} from '../../shared/calls/query.ts';

/** What calls have of a property: a text, one of several, none (`null`), or none of some. */
export type CallValue = string | readonly string[] | null | { not: readonly (string | null)[] };

/** Filters of the list of calls, by the words of its query. */
export interface CallsLink extends Partial<Record<QueryWord, CallValue | undefined>> {
  since?: string | undefined;
  until?: string | undefined;
  /** In the prompt or the answer. */
  text?: string | undefined;
}

/** `model:openai/gpt-5 since:2026-11-21T09:00:00Z`: the query that finds the calls that match. */
export function callsQuery({ since, until, text, ...words }: CallsLink): string {
  const terms = (Object.entries(words) as [QueryWord, CallValue | undefined][]).flatMap(([word, value]) =>
    value === undefined ? [] : termsOf(word, value),
  );
  return formatQuery({
    terms,
    ...(since && { since }),
    ...(until && { until }),
    ...(text && { text }),
  });
}

function termsOf(word: QueryWord, value: CallValue): QueryTerm[] {
  const any = { word, values: ['*'] };
  if (value === null) return [{ ...any, isExcluded: true }];
  if (typeof value === 'string') return [termOf(word, [value])];
  if (!('not' in value)) return [termOf(word, value)];
  const excluded = value.not.filter((text) => text !== null);
  return [
    ...(value.not.includes(null) ? [{ ...any, isExcluded: false }] : []),
    ...(excluded.length > 0 ? [{ ...termOf(word, excluded), isExcluded: true }] : []),
  ];
}

/** Calls that have one of some texts, and no other: also where these have an asterisk, or the name of a client without its version. */
function termOf(word: QueryWord, values: readonly string[]): QueryTerm {
  const isExact = values.some((value) => value.includes('*') || (word === 'client' && !value.includes('/')));
  return { word, values: [...values], isExcluded: false, ...(isExact && { isExact }) };
}

interface Group {
  group: string | null;
  is_other: boolean;
}

/** What calls of one of several groups have of the property by which they are divided. */
export function groupValue({ group, is_other: isOther }: Group, all: readonly Group[]): CallValue {
  if (!isOther) return group;
  return { not: all.filter((one) => !one.is_other).map((one) => one.group) };
}

/** Whether a query selects exactly one value of a word. */
export function selects(query: string, word: QueryWord, value: string): boolean {
  const values = read(query)?.terms.find((term) => isOf(term, word))?.values;
  return values?.length === 1 && values[0] === value;
}

/** Adds a filter to a query in place of those of the same word, or takes it out if it is there. */
export function toggled(query: string, word: QueryWord, value: string): string {
  const known = read(query) ?? { terms: [] };
  const terms = known.terms.filter((term) => !isOf(term, word));
  if (!selects(query, word, value)) terms.push(termOf(word, [value]));
  return formatQuery({ ...known, terms });
}

/** The query of the calls in a range of time. */
export function inRange(query: string, since: string | undefined, until: string | undefined): string {
  const { since: _since, until: _until, ...rest } = read(query) ?? { terms: [] };
  return formatQuery({ ...rest, ...(since && { since }), ...(until && { until }) });
}

function isOf({ word, isExcluded }: CallQuery['terms'][number], wanted: QueryWord): boolean {
  return word === wanted && !isExcluded;
}

/** Undefined for a query that cannot be read. */
function read(query: string): CallQuery | undefined {
  const parsed = parseQuery(query);
  return isQueryFault(parsed) ? undefined : parsed;
}
