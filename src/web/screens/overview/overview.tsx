import { useMemo } from 'preact/hooks';
import { getUsageSeries, listTraces } from '../../../shared/endpoints.ts';
import { customRange } from '../../data/custom-range.ts';
import { now } from '../../data/now.ts';
import {
  customPeriod,
  type Period,
  periodOf,
  type RangeName,
  rangeIn,
  rangeNames,
} from '../../data/period.ts';
import { zoneName } from '../../data/preferences.ts';
import { useQuery } from '../../data/query.ts';
import { route } from '../../data/route.ts';
import { PeriodChoice } from '../../parts/period-choice.tsx';
import { ZoneChoice } from '../../parts/zone-choice.tsx';
import { BudgetList } from './budget-list.tsx';
import { ErrorsPanel, LatencyPanel, SpendPanel } from './charts.tsx';
import { Figures } from './figures.tsx';
import { FirstCall } from './first-call.tsx';
import { TopPanels } from './top.tsx';

/** What the calls of a period cost and how they went, against the period before. */
export function Overview() {
  const usual = useUsualRange();
  const range = rangeIn(route.value.query.get('range'), usual ?? '24h');
  const timeZone = zoneName();
  const custom = customRange(route.value.query, now.value);
  const period = custom ? customPeriod(custom, timeZone) : periodOf(range, now.value, timeZone);
  const { since, until, before, bucket } = period;
  const both = useQuery(getUsageSeries, { query: { since: before, until, bucket, tz: timeZone } });
  const newest = useQuery(listTraces, { query: { fields: 'brief', limit: 1 } });
  const hasCalls = newest.data?.data.length !== 0;
  // Its charts are not drawn twice.
  const isKnown = usual !== undefined || custom !== undefined || route.value.query.has('range');
  return (
    <div class="overview">
      <header class="heading">
        <h1>Overview</h1>
        <PeriodChoice
          ranges={rangeNames}
          value={custom ? undefined : range}
          usual={usual}
          custom={custom}
          now={now.value}
          timeZone={timeZone}
        />
        <ZoneChoice />
      </header>
      {!hasCalls && <FirstCall />}
      {hasCalls && (
        <>
          <Figures both={both} period={period} timeZone={timeZone} />
          {isKnown && (
            <Panels key={`${period.title} ${timeZone}`} period={period} timeZone={timeZone} since={since} />
          )}
        </>
      )}
    </div>
  );
}

const hourMs = 3_600_000;

/** The last hour while there are no older calls, as in a new home, and else the last day; undefined until that is known. */
function useUsualRange(): RangeName | undefined {
  const until = useMemo(() => new Date(Date.now() - hourMs).toISOString(), []);
  const { data, error } = useQuery(listTraces, { query: { fields: 'brief', limit: 1, until } });
  if (data === undefined) return error === undefined ? undefined : '24h';
  return data.data.length === 0 ? '1h' : '24h';
}

interface PanelsProps {
  period: Period;
  timeZone: string;
  since: string;
}

function Panels({ period, timeZone, since }: PanelsProps) {
  const { until, bucket } = period;
  const models = useQuery(getUsageSeries, {
    query: { since, until, bucket, tz: timeZone, group_by: 'model', top: 7 },
  });
  return (
    <div class="panels">
      <SpendPanel query={models} timeZone={timeZone} />
      <LatencyPanel period={period} timeZone={timeZone} />
      <ErrorsPanel period={period} timeZone={timeZone} />
      <BudgetList />
      <TopPanels models={models} period={period} timeZone={timeZone} />
    </div>
  );
}
