import { useMemo } from 'preact/hooks';
import { allCalls, figuresOf } from '../../../view/usage.ts';
import { Chart } from '../../parts/chart.tsx';
import { measureTitles, stackedSeries } from '../../parts/chart-data.ts';
import { Panel } from '../../parts/panel.tsx';
import { drillInto, groupTitles, isLabel } from './usage-choices.ts';
import type { SeriesQuery, UsageProps } from './usage-props.ts';

/** The chosen measure over time, stacked by the first group; a click shows only that group. */
export function UsageChart({
  choices,
  period,
  timeZone,
  nameOf,
  query,
}: UsageProps & { query: SeriesQuery }) {
  const { by, measure } = choices;
  const { data } = query;
  const chart = useMemo(
    () =>
      data &&
      stackedSeries(data, {
        measure,
        timeZone,
        nameOf: (group) => (isLabel(by) ? 'all calls' : nameOf(by, group)),
      }),
    [data, measure, timeZone, by, nameOf],
  );
  const hasCalls = data?.series.some((series) => allCalls(figuresOf(series)) > 0) ?? false;
  const title = isLabel(by)
    ? `${measureTitles[measure]} per ${period.bucket}`
    : `${measureTitles[measure]} by ${groupTitles[by].toLowerCase()} per ${period.bucket}`;
  const pick = (_: number, index: number) => {
    const { group, is_other } = data?.series[index] ?? {};
    if (!isLabel(by) && group && !is_other) drillInto(by, group);
  };
  return (
    <Panel title={title} class="is-wide" queries={[query]}>
      {chart && hasCalls && <Chart title={title} data={chart} onPick={pick} hasTable />}
      {chart && !hasCalls && <p class="quiet">No calls in the {period.title}.</p>}
      {isLabel(by) && hasCalls && (
        <p class="quiet">Calls are not counted by {by} over time; the table has their totals.</p>
      )}
    </Panel>
  );
}
