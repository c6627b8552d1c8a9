import type { CallLabels } from '../constants/call-labels.ts';
import { RecentMap } from '../recent-map.ts';
import {
  type CallQuery,
  endpointPath,
  isMeant,
  isQueryFault,
  parseQuery,
  type QueryFault,
  type QueryTerm,
  type QueryWord,
} from './query.ts';

/** The words of queries for what is known of a call before a provider answers it. */
const knownWords = [
  'endpoint',
  'model',
  'provider',
  'key',
  'client',
  'user',
  'conversation',
  'tag',
  'replay',
] as const satisfies readonly QueryWord[];

/** What is known of a call when it is admitted; an endpoint may not be, when models are listed. */
export interface AdmittedCall {
  endpoint?: string;
  keyId: string | null;
  labels: Pick<CallLabels, 'user' | 'tags'> & Partial<CallLabels>;
}

/** The route that answers it, or may. */
export interface AnsweringRoute {
  model: string;
  provider: string | null;
}

/** Reads the calls that a budget counts: `model:openai/* -tag:team=a`. Other filters are faults that name what is not known. */
export function parseBudgetFilter(text: string): CallQuery | QueryFault {
  const query = parseQuery(text);
  if (isQueryFault(query)) return query;
  const { terms, ...others } = query;
  const unknown = [
    ...terms.map(({ word }) => word).filter((word) => !knownWords.some((known) => known === word)),
    ...Object.keys(others).map((name) => otherFilters[name as keyof typeof others]),
  ];
  if (unknown.length > 0) {
    const what = `${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not known when a call is admitted`;
    return { part: text, message: `${what}. A budget can filter by ${knownWords.join(', ')}.` };
  }
  if (terms.length === 0) return { part: text, message: 'Write a filter such as model:openai/*.' };
  return { terms: terms.map(withPaths) };
}

const otherFilters: Readonly<Record<Exclude<keyof CallQuery, 'terms'>, string>> = {
  minTotalMs: 'the duration',
  minCostUsd: 'the cost',
  since: 'since',
  until: 'until',
  text: 'the text of the answer',
};

/** Endpoints by their paths. */
function withPaths(term: QueryTerm): QueryTerm {
  return term.word === 'endpoint' ? { ...term, values: term.values.map(endpointPath) } : term;
}

const read = new RecentMap<string, readonly QueryTerm[]>(1_000);

/** The terms of a filter that `parseBudgetFilter` accepted; read once. */
export function termsOfFilter(text: string): readonly QueryTerm[] {
  let terms = read.get(text);
  if (terms === undefined) {
    const query = parseQuery(text);
    terms = isQueryFault(query) ? [] : query.terms;
    read.set(text, terms);
  }
  return terms;
}

/** Whether a filter counts a call that a route answers. */
export function isFiltered(text: string, call: AdmittedCall, route: AnsweringRoute): boolean {
  return termsOfFilter(text).every((term) => isTermOf(term, call, route));
}

function isTermOf(term: QueryTerm, call: AdmittedCall, route: AnsweringRoute): boolean {
  const found = textsOf(term.word, call, route);
  if (found === undefined) return true;
  return found.some((text) => isMeant(text, term) || isVersion(text, term)) !== term.isExcluded;
}

/** A client is meant in any version: `claude-cli` is also `claude-cli/2.1.4`. */
function isVersion(text: string, { word, values, isExact }: QueryTerm): boolean {
  if (word !== 'client' || isExact) return false;
  return values.some((value) => !value.includes('*') && text.startsWith(`${value}/`));
}

/** Undefined if it is not known. */
function textsOf(
  word: QueryWord,
  { endpoint, keyId, labels }: AdmittedCall,
  { model, provider }: AnsweringRoute,
): readonly string[] | undefined {
  if (word === 'tag') return Object.entries(labels.tags).map(([name, value]) => `${name}=${value}`);
  if (word === 'endpoint') return endpoint === undefined ? undefined : [endpoint];
  const { client = null, user, conversation = null, replayOf = null } = labels;
  const one = { model, provider, key: keyId, client, user, conversation, replay: replayOf }[word as 'model'];
  return one === null || one === undefined ? [] : [one];
}
