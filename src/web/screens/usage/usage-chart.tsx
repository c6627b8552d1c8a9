import { useMemo } from 'preact/hooks';
import { hasCalls } from '../../../view/usage.ts';
import { Chart } from '../../parts/chart.tsx';
import { measureTitles, stackedSeries } from '../../parts/chart-data.ts';
import { Panel } from '../../parts/panel.tsx';
import { groupTitles, isLabel } from './usage-choices.ts';
import type { SeriesQuery, UsageProps } from './usage-props.ts';

/** The chosen measure over time, stacked by the first group; a click leads to the calls. */
export function UsageChart({
  choices,
  measure,
  period,
  timeZone,
  nameOf,
  query,
}: UsageProps & { query: SeriesQuery }) {
  const { by, filters } = choices;
  const { data } = query;
  const chart = useMemo(
    () =>
      data &&
      stackedSeries(data, {
        measure,
        timeZone,
        nameOf: (group) => (isLabel(by) ? 'all calls' : nameOf(by, group)),
        filtersOf: (group) => (isLabel(by) ? filters : { ...filters, [by]: group }),
      }),
    [data, measure, timeZone, by, nameOf, filters],
  );
  const isEmpty = !hasCalls(data?.series ?? []);
  const title = isLabel(by)
    ? `${measureTitles[measure]} per ${period.bucket}`
    : `${measureTitles[measure]} by ${groupTitles[by].toLowerCase()} per ${period.bucket}`;
  return (
    <Panel title={title} class="is-wide" queries={[query]}>
      {chart && !isEmpty && <Chart title={title} data={chart} hasTable />}
      {chart && isEmpty && <p class="quiet">No calls in the {period.title}.</p>}
      {isLabel(by) && !isEmpty && (
        <p class="quiet">Calls are not counted by {by} over time; the table has their totals.</p>
      )}
    </Panel>
  );
}
