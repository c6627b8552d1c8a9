import {
  type CallQuery,
  formatQuery,
  isQueryFault,
  parseQuery,
  type QueryWord,
} from '../../shared/calls/query.ts';

/** Filters of the list of calls, by the words of its query. */
export interface CallsLink {
  status?: string | readonly string[] | undefined;
  error?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  key?: string | undefined;
  client?: string | undefined;
  user?: string | undefined;
  conversation?: string | undefined;
  tag?: string | undefined;
  endpoint?: string | undefined;
  http?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  /** In the prompt or the answer. */
  text?: string | undefined;
}

/** `model:openai/gpt-5 since:2026-11-21T09:00:00Z`: the query that finds the calls that match. */
export function callsQuery({ since, until, text, ...words }: CallsLink): string {
  const terms = Object.entries(words).flatMap(([word, value]) =>
    value === undefined
      ? []
      : [
          {
            word: word as QueryWord,
            values: typeof value === 'string' ? [value] : [...value],
            isExcluded: false,
          },
        ],
  );
  return formatQuery({
    terms,
    ...(since && { since }),
    ...(until && { until }),
    ...(text && { text }),
  });
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
  if (!selects(query, word, value)) terms.push({ word, values: [value], isExcluded: false });
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
