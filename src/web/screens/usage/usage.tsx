import { useCallback, useMemo } from 'preact/hooks';
import { getUsageSeries, listUsage } from '../../../shared/endpoints.ts';
import { isFree } from '../../../view/usage.ts';
import { customRange } from '../../data/custom-range.ts';
import { useKeyName } from '../../data/key-names.ts';
import { now } from '../../data/now.ts';
import { zoneName } from '../../data/preferences.ts';
import { useList, useQuery } from '../../data/query.ts';
import { route, setQuery } from '../../data/route.ts';
import { measureTitles } from '../../parts/chart-data.ts';
import { Choice } from '../../parts/choice.tsx';
import { PeriodChoice } from '../../parts/period-choice.tsx';
import { Select } from '../../parts/select.tsx';
import { ZoneChoice } from '../../parts/zone-choice.tsx';
import { Unpriced } from './unpriced.tsx';
import { UsageChart } from './usage-chart.tsx';
import {
  groupTitles,
  isLabel,
  labelGroups,
  type SeriesGroup,
  seriesGroups,
  type UsageChoices,
  usageChoices,
} from './usage-choices.ts';
import { UsageLatency } from './usage-latency.tsx';
import { usagePeriod, usageRanges } from './usage-period.ts';
import type { UsageProps } from './usage-props.ts';
import { UsageTable } from './usage-table.tsx';
import { UsageTotals } from './usage-totals.tsx';

/** The chart has eight colours. */
const seriesMax = 7;

/** What calls cost in a period, by model, key and other groups. */
export function Usage() {
  const timeZone = zoneName();
  const { query } = route.value;
  const custom = customRange(query, now.value);
  const period = usagePeriod(
    { range: query.get('range'), bucket: query.get('per') },
    now.value,
    timeZone,
    custom,
  );
  // The same object as long as nothing changes, as charts are drawn anew of another one.
  const choices = useMemo(() => usageChoices(query), [query]);
  const keyName = useKeyName();
  const nameOf = useCallback(
    (group: string, value: string | null) => (group === 'key' ? keyName(value) : (value ?? `no ${group}`)),
    [keyName],
  );
  const props = { choices, period, timeZone, nameOf };
  return (
    <div class="usage">
      <header class="heading">
        <h1>Usage</h1>
        <PeriodChoice
          ranges={usageRanges}
          value={period.range}
          usual="30d"
          custom={custom}
          now={now.value}
          timeZone={timeZone}
        />
        <ZoneChoice />
      </header>
      <Parts key={timeZone} {...props} />
    </div>
  );
}

function Controls({ choices, measure, period, nameOf }: UsageProps) {
  const { by, and, filters } = choices;
  const active = Object.entries(filters) as [SeriesGroup, string][];
  const isFiltered = active.length > 0;
  const options = [
    ...seriesGroups.map((value) => ({ value, title: groupTitles[value] })),
    ...labelGroups.map((value) => ({ value, title: groupTitles[value], isDisabled: isFiltered })),
  ];
  const seconds = seriesGroups.filter((value) => value !== by);
  const cannotSplit = isLabel(by) || filters.provider !== undefined || filters.status !== undefined;
  return (
    <section class="usage-controls" aria-label="What is shown">
      <Choice
        label="Measure"
        options={Object.entries(measureTitles).map(([value, title]) => ({
          value: value as keyof typeof measureTitles,
          title,
        }))}
        value={measure}
        onChange={(value) => setQuery({ show: value })}
      />
      <Select
        label="by"
        options={options}
        value={by}
        onChange={(value) => setQuery({ by: value === 'model' ? undefined : value, and: undefined })}
      />
      <Select
        label="and"
        options={[
          { value: 'none' as const, title: '–' },
          ...seconds.map((value) => ({ value, title: groupTitles[value], isDisabled: cannotSplit })),
        ]}
        value={and ?? 'none'}
        onChange={(value) => setQuery({ and: value === 'none' ? undefined : value, rows: undefined })}
      />
      <Select
        label="per"
        options={period.buckets.map((value) => ({ value, title: value }))}
        value={period.bucket}
        onChange={(value) => setQuery({ per: value === period.buckets[0] ? undefined : value })}
      />
      {active.map(([group, value]) => (
        <button
          key={group}
          type="button"
          class="chip"
          aria-label={`Remove the filter ${group} ${nameOf(group, value)}`}
          onClick={() => setQuery({ [group]: undefined }, { replace: false })}
        >
          <span class="quiet">{group}</span> {nameOf(group, value)} <span aria-hidden="true">×</span>
        </button>
      ))}
    </section>
  );
}

function Parts(shared: Omit<UsageProps, 'measure'>) {
  const { choices, period, timeZone } = shared;
  const { by, and, filters } = choices;
  const { since, until, before, bucket } = period;
  const range = { since, until, tz: timeZone };
  const series = useQuery(getUsageSeries, {
    query: {
      ...range,
      ...seriesFilters(filters),
      bucket,
      top: seriesMax,
      ...(isLabel(by) ? {} : { group_by: by }),
    },
  });
  const earlier = useQuery(getUsageSeries, {
    query: { since: before, until: since, tz: timeZone, ...seriesFilters(filters), bucket },
  });
  const pairs = isLabel(by) || and !== undefined;
  const groups = useList(pairs ? listUsage : undefined, {
    query: {
      since,
      until,
      group_by: [by, and].filter(Boolean).join(','),
      ...(filters.key && { key: filters.key }),
      ...(filters.model && { model: filters.model }),
    },
  });
  const measure = choices.measure ?? (isFree(series.data?.series ?? []) ? 'calls' : 'cost');
  const props = { ...shared, measure };
  return (
    <>
      <Controls {...props} />
      <UsageTotals {...props} series={series} earlier={earlier} />
      <Unpriced {...props} />
      <div class="panels">
        <UsageChart {...props} query={series} />
        <UsageTable {...props} series={series} groups={pairs ? groups : undefined} />
        <UsageLatency {...props} />
      </div>
    </>
  );
}

/** The filters as the parameters of the endpoint. */
function seriesFilters({ status, ...filters }: UsageChoices['filters']) {
  return { ...filters, ...(status !== undefined && { status: status as 'completed' }) };
}
