import type { Key } from '../../../shared/contract/keys.ts';
import { showKey } from '../../../shared/endpoints.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import { spendForecast } from '../../../shared/money/spend-forecast.ts';
import { capText } from '../../../view/money.ts';
import { now } from '../../data/now.ts';
import { useQuery } from '../../data/query.ts';
import { SpendBar } from '../../parts/spend-bar.tsx';

/** How much of its spend cap a key has used, and will have at the end of the period. */
export function KeyCap({ keyView: { id, limits } }: { keyView: Key }) {
  const cap = limits.spend_cap;
  const { data, error } = useQuery(cap ? showKey : undefined, { params: { workspace: 'me', key: id } });
  if (!cap) return <span class="quiet">no cap</span>;
  const use = data?.used.spend_cap;
  if (!use) return <span class="quiet">{error === undefined ? '…' : 'unknown'}</span>;
  const { spent_usd: spent, period_start: from, resets_at: until } = use;
  const start = from === null ? 0 : Date.parse(from);
  const end = until === null ? undefined : Date.parse(until);
  const amounts = { spent: parseUsd(spent) ?? 0, amount: parseUsd(cap.usd) ?? 0 };
  const forecast = spendForecast(amounts, { start, end, now: now.value });
  return (
    <SpendBar
      spent={spent}
      limit={cap.usd}
      cap={capText(cap)}
      forecast={forecast === null ? undefined : forecast.spent / 1e9}
      reachedAt={forecast?.reachedAt}
      resetsAt={end}
    />
  );
}
