import { briefDollars, dollars } from '../../../view/money.ts';
import { briefCount, change, count } from '../../../view/numbers.ts';
import { figureLinks } from '../../data/calls-link.ts';
import { CallsFigure } from '../../parts/calls-figure.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import type { SeriesQuery, UsageProps } from './usage-props.ts';
import { rowsOfSeries, totalOf } from './usage-rows.ts';

/** What all calls add up to, against the period before. */
export function UsageTotals({
  period,
  choices: { filters },
  series,
  earlier,
}: UsageProps & { series: SeriesQuery; earlier: SeriesQuery }) {
  if (series.error !== undefined && !series.data) return null;
  if (earlier.error !== undefined && !earlier.data)
    return <ProblemBox error={earlier.error} retry={earlier.reload} />;
  const now = series.data && totalOf(rowsOfSeries(series.data));
  const before = earlier.data && totalOf(rowsOfSeries(earlier.data));
  const hasBefore = before !== undefined && before.calls > 0;
  const { since, until } = period;
  const links = now && figureLinks({ ...filters, since, until }, now);
  const figures = [
    {
      title: 'Cost',
      value: now && briefDollars(now.usd),
      exact: now && dollars(now.usd),
      of: now && Number(now.usd) > 0 ? links?.charged : undefined,
      was: before && briefDollars(before.usd),
      by: changeOf(now?.usd, before?.usd),
    },
    {
      title: 'Calls',
      value: now && count(now.calls),
      of: links?.calls,
      was: before && count(before.calls),
      by: changeOf(now?.calls, before?.calls),
    },
    {
      title: 'Errors',
      value: now && count(now.errors ?? 0),
      of: links?.errors,
      was: before && count(before.errors ?? 0),
      by: changeOf(now?.errors, before?.errors),
    },
    {
      title: 'Rejected',
      value: now && count(now.rejected),
      of: links?.rejected,
      was: before && count(before.rejected),
      by: changeOf(now?.rejected, before?.rejected),
    },
    {
      title: 'Input tokens',
      value: now && briefCount(now.input),
      exact: now && count(now.input),
      of: now && now.input > 0 ? links?.charged : undefined,
      was: before && briefCount(before.input),
      by: changeOf(now?.input, before?.input),
    },
    {
      title: 'Output tokens',
      value: now && briefCount(now.output),
      exact: now && count(now.output),
      of: now && now.output > 0 ? links?.charged : undefined,
      was: before && briefCount(before.output),
      by: changeOf(now?.output, before?.output),
    },
  ];
  return (
    <section class="totals" aria-label={`The ${period.title}`}>
      {figures.map(({ title, value, exact, of, was, by }) => (
        <div key={title}>
          <h2>{title}</h2>
          <p class="value">
            <CallsFigure text={value ?? '…'} what={title.toLowerCase()} of={of} title={exact} />
          </p>
          <p class="quiet">
            {was === undefined ? '…' : hasBefore ? `before ${was}` : 'nothing before'}
            {by && ` · ${by}`}
          </p>
        </div>
      ))}
    </section>
  );
}

function changeOf(now: string | number | undefined, before: string | number | undefined) {
  return now === undefined || before === undefined ? undefined : change(Number(now), Number(before));
}
