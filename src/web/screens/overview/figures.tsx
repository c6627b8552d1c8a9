import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries } from '../../../shared/contract/usage.ts';
import { getUsageLatency } from '../../../shared/endpoints.ts';
import { briefDollars } from '../../../view/money.ts';
import { briefRate, change, count, percent, sum } from '../../../view/numbers.ts';
import type { Period } from '../../data/period.ts';
import { type Query, useQuery } from '../../data/query.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';

interface FiguresProps {
  /** The period and the one before it, in one series. */
  both: Query<Result<typeof getUsageSeries>>;
  period: Period;
  timeZone: string;
}

/** Calls, errors, cost and speed, each against the period before. */
export function Figures({ both, period, timeZone }: FiguresProps) {
  const { since, until, before } = period;
  const speed = useQuery(getUsageLatency, { query: { since, until, tz: timeZone } });
  const speedBefore = useQuery(getUsageLatency, { query: { since: before, until: since, tz: timeZone } });
  const { error, reload, data } = both;
  if (error !== undefined && !data) return <ProblemBox error={error} retry={reload} />;
  const starts = data?.buckets.map(({ start }) => start) ?? [];
  const cut = starts.findIndex((start) => Date.parse(start) >= Date.parse(since));
  const parts = (values: readonly number[]) => [values.slice(0, cut), values.slice(cut)] as const;
  const [series] = data?.series ?? [];
  const [callsBefore, calls] = parts(series?.requests ?? []);
  const [errorsBefore, errors] = parts(series?.errors ?? []);
  const [costBefore, cost] = parts(series?.cost_usd.map(Number) ?? []);
  const share = (failed: readonly number[], all: readonly number[]) =>
    sum(all) === 0 ? 0 : sum(failed) / sum(all);
  const tokens = speed.data?.series[0]?.tokens_per_second[0]?.p50;
  const tokensBefore = speedBefore.data?.series[0]?.tokens_per_second[0]?.p50;
  const shown = data ? (text: string) => text : () => '…';
  return (
    <section class="figures" aria-label={`The ${period.title}`}>
      <Figure
        title="Calls"
        value={shown(count(sum(calls)))}
        change={change(sum(calls), sum(callsBefore))}
        line={calls}
      />
      <Figure
        title="Errors"
        value={shown(percent(share(errors, calls)))}
        note={data && `${count(sum(errors))} failed`}
        change={sum(callsBefore) === 0 ? undefined : `before ${percent(share(errorsBefore, callsBefore))}`}
        line={errors}
        tone="bad"
      />
      <Figure
        title="Cost"
        value={shown(briefDollars(sum(cost)))}
        change={change(sum(cost), sum(costBefore))}
        line={cost}
      />
      <Figure
        title="Tokens/s"
        value={speed.data ? speedText(tokens) : speed.error === undefined ? '…' : 'unknown'}
        note="median of answers"
        change={tokens && tokensBefore ? change(tokens, tokensBefore) : undefined}
      />
    </section>
  );
}

function speedText(tokens: number | null | undefined): string {
  return tokens === null || tokens === undefined ? 'none' : briefRate(tokens);
}

interface FigureProps {
  title: string;
  value: string;
  note?: string | undefined;
  change: string | undefined;
  line?: readonly number[];
  tone?: 'bad';
}

function Figure({ title, value, note, change: changed, line, tone }: FigureProps) {
  return (
    <div class={tone === 'bad' ? 'figure is-bad' : 'figure'}>
      <h2>{title}</h2>
      <p class="value">{value}</p>
      <p class="quiet">
        {changed && <span title="Against the period before">{changed}</span>}
        {changed && note && ' · '}
        {note}
        {!changed && !note && 'nothing before'}
      </p>
      {line && <Sparkline values={line} />}
    </div>
  );
}
