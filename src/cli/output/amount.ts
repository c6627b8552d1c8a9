import { groupDigits } from '../../shared/text/group-digits.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';

/** Formats an amount as `$0.000123`; an unknown amount is `unknown`, never 0. */
export function dollars(usd: string | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown';
  return usd.startsWith('-') ? `-$${usd.slice(1)}` : `$${usd}`;
}

/** `1234567` → `1,234,567`. */
export function count(number: number): string {
  return groupDigits(String(number));
}

/** Like `count`, but `12.3k` and `4.5M` from 10,000 on. */
export function briefCount(number: number): string {
  if (number < 10_000) return count(number);
  const [part, unit] = number < 999_950 ? [number / 1e3, 'k'] : [number / 1e6, 'M'];
  return `${part.toFixed(part < 99.95 ? 1 : 0)}${unit}`;
}

const smallestShown = 0.000001;

/** Dollars in at most nine cells, rounded to three digits: `$0.000338`, `$12.50`. Smaller amounts are `<$0.00001`. */
export function briefDollars(usd: string | null | undefined): string {
  const amount = Number(usd);
  if (usd === null || usd === undefined || amount < 0 || Number.isNaN(amount)) return dollars(usd);
  if (amount === 0) return '$0';
  if (amount < smallestShown) return '<$0.00001';
  const decimals = Math.max(2, Math.min(6, 2 - Math.floor(Math.log10(amount))));
  const [whole = '', fraction = ''] = amount.toFixed(decimals).split('.');
  return `$${whole}.${trimEnd(fraction, '0').padEnd(2, '0')}`;
}
