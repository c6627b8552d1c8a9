import {
  type CallQuery,
  endpointPath,
  isQueryFault,
  parseQuery,
  type QueryWord,
  queryTime,
} from '../../../shared/calls/query.ts';
import type { Query } from '../../../shared/contract/endpoint.ts';
import type { getTraceFacets } from '../../../shared/contract/traces.ts';
import { ApiError } from '../../../shared/errors.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import { timeBound } from '../metering/index.ts';
import type { SearchFilters, SearchTerm, TermField } from './store.ts';

/** Calls that match the filters of a request, and its query. */
export interface CallSelection extends SearchFilters {
  since: number | undefined;
  until: number | undefined;
  /** What was asked or answered contains it. */
  text: string | undefined;
  /** Whether the query names keys, perhaps by their names. */
  hasQuery: boolean;
}

export type CallFilters = Query<typeof getTraceFacets>;

const fieldsOfWords: Record<QueryWord, TermField> = {
  status: 'status',
  error: 'errorCode',
  endpoint: 'endpoint',
  model: 'model',
  provider: 'provider',
  key: 'keyId',
  client: 'client',
  user: 'user',
  conversation: 'conversation',
  tag: 'tag',
  http: 'httpStatus',
  replay: 'replayOf',
};

/** Fails with `invalid_request` for a query that cannot be read, and for what is not a time. */
export function selectionIn(filters: CallFilters, now: number): CallSelection {
  const query = queryIn(filters.q);
  const latest = (name: 'since' | 'until') => [
    timeBound(name, filters[name], { now }),
    timeBound(name, query[name] === undefined ? undefined : queryTime(query[name], now), { now }),
  ];
  const [since, until] = [highest(latest('since')), lowest(latest('until'))];
  if (since !== undefined && until !== undefined && since > until)
    throw new ApiError('invalid_request', { param: 'since', message: '`since` must be before `until`.' });
  const costs = [filters.min_cost_usd, query.minCostUsd].map((usd) => usd && parseUsd(usd));
  return {
    terms: [...parameterTerms(filters), ...query.terms.map(termOf)],
    minTotalMs: highest([filters.min_total_ms, query.minTotalMs]),
    minCost: highest(costs),
    since,
    until,
    text: query.text,
    hasQuery: filters.q !== undefined,
  };
}

function termOf({ word, values, ...term }: CallQuery['terms'][number]): SearchTerm {
  const meant = word === 'endpoint' ? values.map(endpointPath) : values;
  return { ...term, field: fieldsOfWords[word], values: meant };
}

function parameterTerms(filters: CallFilters): SearchTerm[] {
  const values: Partial<Record<TermField, string[] | undefined>> = {
    status: filters.status?.split(','),
    errorCode: listed(filters.error_code),
    endpoint: listed(filters.endpoint),
    model: listed(filters.model),
    provider: listed(filters.provider),
    keyId: listed(filters.key),
    client: listed(filters.client),
    user: listed(filters.user),
    conversation: listed(filters.conversation),
    tag: listed(filters.tag),
    httpStatus: listed(filters.http_status),
    replayOf: listed(filters.replay_of),
  };
  return Object.entries(values).flatMap(([field, given]) =>
    given ? [{ field: field as TermField, values: given, isExcluded: false }] : [],
  );
}

function listed(value: string | undefined): string[] | undefined {
  return value === undefined ? undefined : [value];
}

function queryIn(text: string | undefined): CallQuery {
  if (text === undefined) return { terms: [] };
  const query = parseQuery(text);
  if (isQueryFault(query)) throw queryFault(query.part, query.message);
  return query;
}

export function queryFault(part: string, message: string): ApiError {
  return new ApiError('invalid_request', { param: 'q', message: `${part}: ${message}` });
}

type Bound = number | '' | undefined;

function highest(bounds: readonly Bound[]): number | undefined {
  const given = bounds.filter((bound) => typeof bound === 'number');
  return given.length === 0 ? undefined : Math.max(...given);
}

function lowest(bounds: readonly Bound[]): number | undefined {
  const given = bounds.filter((bound) => typeof bound === 'number');
  return given.length === 0 ? undefined : Math.min(...given);
}
