import { useMemo } from 'preact/hooks';
import {
  type CallQuery,
  formatQuery,
  isPattern,
  isQueryFault,
  parseQuery,
} from '../../../shared/calls/query.ts';
import type { Query } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries as usageSeries } from '../../../shared/contract/usage.ts';
import { getUsageSeries } from '../../../shared/endpoints.ts';
import { briefCount } from '../../../view/numbers.ts';
import { inRange } from '../../data/calls-query.ts';
import { now } from '../../data/now.ts';
import { zoneName } from '../../data/preferences.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery } from '../../data/route.ts';
import { bucketsFor, type ChartData } from '../../parts/chart-data.ts';
import { RangeBars } from '../../parts/range-bars.tsx';
import { rangeOf } from './histogram-range.ts';

type SeriesQuery = Query<typeof usageSeries>;

/** Calls over time; dragging over them selects a range. */
export function Histogram({ query }: { query: string }) {
  const timeZone = zoneName();
  const parsed = parseQuery(query);
  const known: CallQuery = isQueryFault(parsed) ? { terms: [] } : parsed;
  const { since, until, bucket } = rangeOf(known, now.value);
  const { filters, rest } = countable(known);
  const { data, error } = useQuery(getUsageSeries, {
    query: { ...filters, since, until, bucket, tz: timeZone },
  });
  const chart = useMemo(() => {
    const [all] = data?.series ?? [];
    if (!data || !all) return undefined;
    const completed = all.requests.map((calls, at) => calls - (all.errors[at] ?? 0));
    return {
      kind: 'bars',
      buckets: bucketsFor(data.buckets, data.bucket, timeZone),
      series: [
        { label: 'failed', tone: 'bad', values: all.errors },
        { label: 'other', tone: 0, values: completed },
      ],
      format: briefCount,
      isCount: true,
      timeZone,
    } satisfies ChartData;
  }, [data, timeZone]);
  if (error !== undefined || !chart) return <div class="histogram" />;
  const select = (first: number, last: number) => {
    const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
    const next = inRange(query, iso(chart.buckets[first]?.start), iso(chart.buckets[last]?.end));
    setQuery({ q: next }, { replace: false });
  };
  const isNarrowed = known.since !== undefined || known.until !== undefined;
  return (
    <div class="histogram">
      <RangeBars title="Calls over time" data={chart} onRange={select} />
      <p class="quiet histogram-note">
        {rest !== '' && (
          <span>
            Not filtered by <code>{rest}</code>
          </span>
        )}
        {isNarrowed && (
          <button
            type="button"
            onClick={() => setQuery({ q: inRange(query, undefined, undefined) }, { replace: false })}
          >
            All times
          </button>
        )}
      </p>
    </div>
  );
}

/** The filters that totals have, and what is left of the query. */
function countable({ terms, since: _since, until: _until, ...others }: CallQuery): {
  filters: SeriesQuery;
  rest: string;
} {
  const filters: Record<string, string> = {};
  const left = terms.filter(({ word, values, isExcluded, isExact }) => {
    const [value = ''] = values;
    const isOne = !isExcluded && values.length === 1 && !isPattern(value, { isExact });
    const isKnown =
      word === 'model' ||
      word === 'provider' ||
      (word === 'key' && value.startsWith('key_')) ||
      (word === 'status' && value !== 'rejected');
    if (isOne && isKnown) filters[word] = value;
    return !(isOne && isKnown);
  });
  return { filters: filters as SeriesQuery, rest: formatQuery({ ...others, terms: left }) };
}
