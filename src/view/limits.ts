import type { Limits } from '../shared/contract/key-limits.ts';
import { capText, dollars } from './money.ts';
import { count } from './numbers.ts';
import { plannedTime } from './times.ts';

/** A key's limits on one line; empty if it has none. */
export function limitsText(limits: Limits, options?: Parameters<typeof limitTexts>[1]): string {
  return limitTexts(limits, options).join(', ');
}

/** What the limits of a key allow, one by one; with `cap: false`, apart from what it may spend. `timeText` writes its end. */
export function limitTexts(
  {
    spend_cap: cap,
    max_price: price,
    models,
    requests_per_minute: rate,
    concurrency,
    expires_at: end,
  }: Limits,
  { cap: hasCap = true, timeText = plannedTime }: { cap?: boolean; timeText?: (at: string) => string } = {},
): string[] {
  return [
    hasCap && cap && capText(cap),
    price?.input && `input ≤ ${dollars(price.input)}`,
    price?.output && `output ≤ ${dollars(price.output)}`,
    models && `models ${models.join(' ')}`,
    rate && `${count(rate)} ${rate === 1 ? 'call' : 'calls'} per minute`,
    concurrency && `${count(concurrency)} ${concurrency === 1 ? 'call' : 'calls'} at a time`,
    end && `until ${timeText(end)}`,
  ].filter((text) => !!text) as string[];
}
