import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries } from '../../../shared/contract/usage.ts';
import { getUsageLatency } from '../../../shared/endpoints.ts';
import { briefDollars } from '../../../view/money.ts';
import { briefRate, change, count, percent } from '../../../view/numbers.ts';
import { allCalls, callsPerBucket, errorShare, figuresOf, rejectedShare } from '../../../view/usage.ts';
import { type CountedCalls, figureLinks } from '../../data/calls-link.ts';
import type { Period } from '../../data/period.ts';
import { type Query, useQuery } from '../../data/query.ts';
import { CallsFigure } from '../../parts/calls-figure.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';

interface FiguresProps {
  /** The period and the one before it, in one series. */
  both: Query<Result<typeof getUsageSeries>>;
  period: Period;
  timeZone: string;
}

/** Calls, errors, rejected calls, cost and speed, each against the period before. */
export function Figures({ both, period, timeZone }: FiguresProps) {
  const { since, until, before } = period;
  const speed = useQuery(getUsageLatency, { query: { since, until, tz: timeZone } });
  const speedBefore = useQuery(getUsageLatency, { query: { since: before, until: since, tz: timeZone } });
  const { error, reload, data } = both;
  if (error !== undefined && !data) return <ProblemBox error={error} retry={reload} />;
  const starts = data?.buckets.map(({ start }) => start) ?? [];
  const cut = starts.findIndex((start) => Date.parse(start) >= Date.parse(since));
  const [series] = data?.series ?? [];
  const [figuresBefore, figures] = [figuresOf(series, 0, cut), figuresOf(series, cut)];
  const [callsBefore, calls] = [allCalls(figuresBefore), allCalls(figures)];
  const line = (values: readonly number[] | undefined) => (values ?? []).slice(cut);
  const shareBefore = (share: number) => (callsBefore === 0 ? undefined : `before ${percent(share)}`);
  const tokens = speed.data?.series[0]?.tokens_per_second[0]?.p50;
  const tokensBefore = speedBefore.data?.series[0]?.tokens_per_second[0]?.p50;
  const shown = data ? (text: string) => text : () => '…';
  const links = data && figureLinks({ since, until }, { ...figures, calls });
  return (
    <section class="figures" aria-label={`The ${period.title}`}>
      <Figure
        title="Calls"
        value={shown(count(calls))}
        of={links?.calls}
        change={change(calls, callsBefore)}
        line={line(series && callsPerBucket(series))}
      />
      <Figure
        title="Errors"
        value={shown(percent(errorShare(figures)))}
        note={data && `${count(figures.errors)} failed`}
        of={links?.errors}
        change={shareBefore(errorShare(figuresBefore))}
        line={line(series?.errors)}
        tone="bad"
      />
      <Figure
        title="Rejected"
        value={shown(count(figures.rejected))}
        note={data && `${percent(rejectedShare(figures))} of all calls`}
        of={links?.rejected}
        change={shareBefore(rejectedShare(figuresBefore))}
        line={line(series?.rejected)}
        tone="rejected"
      />
      <Figure
        title="Cost"
        value={shown(briefDollars(figures.costUsd))}
        of={Number(figures.costUsd) > 0 ? links?.charged : undefined}
        change={change(Number(figures.costUsd), Number(figuresBefore.costUsd))}
        line={line(series?.cost_usd.map(Number))}
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
  /** The calls that it tells of. */
  of?: CountedCalls | undefined;
  line?: readonly number[];
  tone?: 'bad' | 'rejected';
}

function Figure({ title, value, note, of, change: changed, line, tone }: FigureProps) {
  return (
    <div class={tone ? `figure is-${tone}` : 'figure'}>
      <h2>{title}</h2>
      <p class="value">
        <CallsFigure text={value} what={title.toLowerCase()} of={of} />
      </p>
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
