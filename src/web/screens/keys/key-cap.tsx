import type { Key } from '../../../shared/contract/keys.ts';
import { showKey } from '../../../shared/endpoints.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import { spendForecast } from '../../../shared/money/spend-forecast.ts';
import { endOfPeriod, startOfPeriod } from '../../../shared/money/spend-periods.ts';
import { now } from '../../data/now.ts';
import { useQuery } from '../../data/query.ts';
import { SpendBar } from '../../parts/spend-bar.tsx';

const periods = { day: 'day', month: 'month', total: 'none' } as const;

/** How much of its spend cap a key has used, and will have at the end of the period. */
export function KeyCap({ keyView: { id, limits } }: { keyView: Key }) {
  const cap = limits.spend_cap;
  const { data, error } = useQuery(cap ? showKey : undefined, { params: { workspace: 'me', key: id } });
  if (!cap) return <span class="quiet">no cap</span>;
  const spent = data?.used.spend_usd[cap.period];
  if (spent === undefined) return <span class="quiet">{error === undefined ? '…' : 'unknown'}</span>;
  const period = periods[cap.period];
  const [start, end] = [startOfPeriod(period, now.value), endOfPeriod(period, now.value)];
  const amounts = { spent: parseUsd(spent) ?? 0, amount: parseUsd(cap.usd) ?? 0 };
  const forecast = spendForecast(amounts, { start, end, now: now.value });
  return (
    <SpendBar
      spent={spent}
      limit={cap.usd}
      period={period}
      forecast={forecast === null ? undefined : forecast.spent / 1e9}
      reachedAt={forecast?.reachedAt}
      resetsAt={end}
    />
  );
}
