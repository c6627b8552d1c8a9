import { briefDollars, dollars } from '../../../view/money.ts';
import { briefCount, change, count } from '../../../view/numbers.ts';
import { type CountedCalls, figureLinks } from '../../data/calls-link.ts';
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
  const figure = <Value extends number | string>(
    title: string,
    read: (total: ReturnType<typeof totalOf>) => Value,
    of: CountedCalls | undefined,
    [show, exact]: [show: (value: Value) => string, exact?: (value: Value) => string],
  ) => {
    const [value, was] = [now && read(now), before && read(before)];
    return {
      title,
      value: value === undefined ? undefined : show(value),
      exact: value === undefined ? undefined : exact?.(value),
      of,
      was: was === undefined ? undefined : show(was),
      by: value === undefined || was === undefined ? undefined : change(Number(value), Number(was)),
    };
  };
  const charged = (amount: number | string | undefined) => (Number(amount) > 0 ? links?.charged : undefined);
  const figures = [
    figure('Cost', ({ usd }) => usd, charged(now?.usd), [briefDollars, dollars]),
    figure('Calls', ({ calls }) => calls, links?.calls, [count]),
    figure('Errors', ({ errors }) => errors ?? 0, links?.errors, [count]),
    figure('Rejected', ({ rejected }) => rejected, links?.rejected, [count]),
    figure('Input tokens', ({ input }) => input, charged(now?.input), [briefCount, count]),
    figure('Output tokens', ({ output }) => output, charged(now?.output), [briefCount, count]),
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
