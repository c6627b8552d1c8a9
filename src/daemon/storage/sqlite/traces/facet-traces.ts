import { isMeant, isPattern } from '../../../../shared/calls/query.ts';
import type {
  Facet,
  FacetField,
  FacetsFilter,
  SearchTerm,
  TraceFacets,
} from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { indexKinds } from '../metering/usage/index-kinds.ts';
import { type SumFilter, type SumGroup, UsageSummer } from '../metering/usage/sum-usage.ts';
import { dayMs, foldedTo } from '../metering/usage/usage-totals.ts';
import { keyIdsOf, lookFor } from './call-conditions.ts';
import { type ScanPace, scanCalls } from './scan-calls.ts';

/** What no totals have is counted for so long. */
const deadlineMs = 25;
/** Values of a field that are counted one by one. */
const valuesMax = 50;

const fields = [
  'status',
  'errorCode',
  'model',
  'provider',
  'keyId',
  'client',
  'user',
  'tag',
  'conversation',
  'endpoint',
] as const satisfies FacetField[];
/** Fields by which there are common totals. */
const summed = ['model', 'provider', 'status'] as const satisfies (FacetField & SumGroup)[];

/** The number of calls by the number of a name; null for those without. */
type Counts = Map<number | null, number>;

const noCalls: Facet = { values: [], other: 0, none: 0 };
const none: TraceFacets = {
  calls: 0,
  facets: Object.fromEntries(fields.map((field) => [field, noCalls])) as Record<FacetField, Facet>,
  partial: [],
  countedSince: undefined,
};

/** Counts calls by each field: from totals where there are some for the filters, else one by one while there is time. */
export function facetTraces(
  database: Connection,
  names: NameTexts,
  filter: FacetsFilter,
  pace: ScanPace,
): TraceFacets {
  return database.transaction(() => {
    const workspace = names.numberOf(filter.workspaceId);
    if (workspace === undefined) return none;
    const counts = countsFromTotals(database, names, { ...filter, workspace });
    const missing = fields.filter((field) => !counts.has(field));
    const scan = missing.length === 0 ? undefined : scanned(database, names, { ...filter, workspace, pace });
    for (const field of missing) counts.set(field, scan?.counts.get(field) ?? new Map());
    const partial = scan?.end === undefined ? [] : missing;
    const byStatus = counts.get('status') ?? new Map<number | null, number>();
    return {
      calls: [...byStatus.values()].reduce((sum, calls) => sum + calls, 0),
      facets: Object.fromEntries(
        fields.map((field) => [field, facetOf(counts.get(field) ?? new Map(), names)]),
      ) as Record<FacetField, Facet>,
      partial,
      countedSince: partial.length > 0 ? scan?.end : undefined,
    };
  })();
}

type Query = FacetsFilter & { workspace: number };

function countsFromTotals(
  database: Connection,
  names: NameTexts,
  { workspaceId, terms, minTotalMs, minCost, workspace, since = 0, until = Number.MAX_SAFE_INTEGER }: Query,
): Map<FacetField, Counts> {
  const counts = new Map<FacetField, Counts>();
  if (minTotalMs !== undefined || (minCost !== undefined && minCost > 0)) return counts;
  const isSummed = ({ field }: SearchTerm) => summed.some((name) => name === field);
  const byKey = terms.filter(({ field }) => field === 'keyId');
  if (!terms.every((term) => isSummed(term) || term.field === 'keyId')) return counts;
  const key = byKey.length === 0 ? null : onlyKey(database, names, { workspaceId, terms: byKey });
  if (key === undefined) return counts;
  const keys = key === null ? null : [key];
  const filter: SumFilter = { workspace, keys, model: null, provider: null, status: null };
  for (const field of summed) counts.set(field, new Map());
  for (const row of new UsageSummer(database, filter, summed).sum(since, until)) {
    const texts = Object.fromEntries(
      summed.map((field, index) => [field, names.ofNullable(row.names[index] ?? null)]),
    );
    if (!terms.filter(isSummed).every((term) => matches(term, texts[term.field] ?? null))) continue;
    for (const [index, field] of summed.entries())
      add(counts.get(field), row.names[index] ?? null, row.requests);
  }
  const all = [...(counts.get('status') ?? [])].reduce((sum, [, calls]) => sum + calls, 0);
  if (key !== null) counts.set('keyId', new Map([[key, all]]));
  if (terms.length > 0) return counts;
  counts.set('keyId', countKeys(database, { workspace, since, until, all }));
  for (const [field, group] of [
    ['errorCode', 'error'],
    ['client', 'client'],
    ['user', 'user'],
  ] as const) {
    const labelled: Counts = new Map();
    for (const row of new UsageSummer(database, filter, [group]).sum(since, until))
      if (row.names[0] !== null) add(labelled, row.names[0] ?? null, row.requests);
    counts.set(field, withoutValue(labelled, all));
  }
  return counts;
}

/** The number of the only key that terms select; undefined if there are none or several. */
function onlyKey(
  database: Connection,
  names: NameTexts,
  { workspaceId, terms: [term, ...others] }: { workspaceId: string; terms: readonly SearchTerm[] },
): number | undefined {
  if (!term || others.length > 0 || term.isExcluded || term.values.some((value) => isPattern(value, term)))
    return undefined;
  const ids = keyIdsOf(database, [workspaceId], term);
  const [number, ...more] = ids.flatMap((id) => names.numberOf(id) ?? []);
  return more.length === 0 ? number : undefined;
}

function add(counts: Counts | undefined, name: number | null, calls: number): void {
  counts?.set(name, (counts.get(name) ?? 0) + calls);
}

/** Adds what all calls have besides those with a value. */
function withoutValue(counts: Counts, all: number): Counts {
  const rest = all - [...counts.values()].reduce((sum, calls) => sum + calls, 0);
  if (rest > 0) counts.set(null, rest);
  return counts;
}

function matches(term: SearchTerm, text: string | null): boolean {
  return (text !== null && isMeant(text, term)) !== term.isExcluded;
}

/** Whole days from the totals by day; the rest by counting how many calls of each key the index lists. */
function countKeys(
  database: Connection,
  { workspace, since, until, all }: { workspace: number; since: number; until: number; all: number },
): Counts {
  const counts: Counts = new Map();
  const filter: SumFilter = { workspace, keys: null, model: null, provider: null, status: null };
  const summer = new UsageSummer(database, filter, ['key']);
  const { from, to } = summer.extent;
  const start = Math.max(since, Math.floor(from / dayMs) * dayMs);
  const end = Math.min(until, Math.ceil(to / dayMs) * dayMs);
  const days = { from: Math.ceil(start / dayMs) * dayMs, to: Math.floor(end / dayMs) * dayMs };
  const parts =
    days.from <= days.to
      ? [
          { from: start, to: days.from },
          { from: days.to, to: end },
        ]
      : [{ from: start, to: end }];
  if (days.from < days.to)
    for (const row of summer.sum(days.from, days.to))
      if (row.names[0] !== null) add(counts, row.names[0] ?? null, row.requests);
  for (const part of parts)
    if (part.from < part.to)
      for (const { value, calls } of listedCalls(database, workspace, part)) add(counts, value, calls);
  return withoutValue(counts, all);
}

/** The calls of each key in a part of a day, through the index. */
function listedCalls(database: Connection, workspace: number, { from, to }: { from: number; to: number }) {
  return database
    .prepare<[object], { value: number; calls: number }>(
      `WITH RECURSIVE listed (value) AS (
         SELECT (SELECT value FROM call_index WHERE workspace = @workspace AND kind = ${indexKinds.key} ORDER BY value LIMIT 1)
         UNION ALL
         SELECT (SELECT value FROM call_index
           WHERE workspace = @workspace AND kind = ${indexKinds.key} AND value > listed.value ORDER BY value LIMIT 1)
         FROM listed WHERE listed.value IS NOT NULL)
       SELECT value, calls FROM (
         SELECT value, (SELECT count(*) FROM call_index WHERE workspace = @workspace AND kind = ${indexKinds.key}
           AND call_index.value = listed.value AND completed_at >= @from AND completed_at < @to) AS calls
         FROM listed WHERE value IS NOT NULL) AS counted WHERE calls > 0
       UNION ALL
       SELECT key, count(*) FROM calls
       WHERE number > @foldedTo AND +workspace = @workspace AND key IS NOT NULL
         AND completed_at >= @from AND completed_at < @to GROUP BY key`,
    )
    .all({ workspace, from, to, foldedTo: foldedTo(database) });
}

type Row = Record<Exclude<FacetField, 'tag'>, number | null> & { tags: string | null };

/** Counts calls one by one, newest first; `end` is where time was up. */
function scanned(
  database: Connection,
  names: NameTexts,
  { pace, ...filter }: Query & { pace: ScanPace },
): { counts: Map<FacetField, Counts>; end: number | undefined } {
  const { workspace, since = 0, until = Number.MAX_SAFE_INTEGER } = filter;
  const counts = new Map<FacetField, Counts>(fields.map((field) => [field, new Map()]));
  const looked = lookFor(database, names, filter, { workspace, since });
  if (!looked) return { counts, end: undefined };
  const { found, end } = scanCalls<Row>(database, {
    ...looked,
    range: { workspace, since, until, after: undefined },
    columns:
      ', calls.status, calls.error_code AS errorCode, calls.model, calls.provider, calls.key AS keyId, calls.client, calls.end_user AS "user", calls.conversation, calls.endpoint, calls.tags',
    limit: Number.MAX_SAFE_INTEGER,
    deadlineMs,
    pace,
  });
  for (const row of found)
    for (const field of fields) for (const name of namesIn(row, field)) add(counts.get(field), name, 1);
  return { counts, end: end?.completedAt };
}

/** A call has any number of tags, and one of all else. */
function namesIn(row: Row, field: FacetField): (number | null)[] {
  if (field !== 'tag') return [row[field]];
  return row.tags === null ? [null] : (JSON.parse(row.tags) as number[]);
}

/** The name 0 stands for labels beyond the most of a day. */
function facetOf(counts: Counts, names: NameTexts): Facet {
  const named = [...counts].filter(
    (entry): entry is [number, number] => entry[0] !== null && entry[0] !== 0 && entry[1] > 0,
  );
  const sorted = named.sort(([a, most], [b, fewer]) => fewer - most || a - b);
  const sum = (entries: readonly (readonly [unknown, number])[]) =>
    entries.reduce((total, [, calls]) => total + calls, 0);
  return {
    values: sorted.slice(0, valuesMax).map(([name, calls]) => ({ value: names.of(name), calls })),
    other: sum(sorted.slice(valuesMax)) + (counts.get(0) ?? 0),
    none: counts.get(null) ?? 0,
  };
}
