import { dollarText } from '../shared/money/money.ts';
import { groupDigits } from '../shared/text/group-digits.ts';
import { trimEnd } from '../shared/text/trim-text.ts';

/*
 * Dollars as the CLI, the TUI and the page show them. What was charged for one thing is exact, so that it can be added up;
 * lists, charts and figures have the brief form.
 */

type Usd = string | number | null | undefined;

/** An exact amount, `$5`, `$0.50`, `$0.000123`; an unknown one is `unknown`, never 0. */
export function dollars(usd: Usd): string {
  return usd === null || usd === undefined ? 'unknown' : dollarText(String(usd));
}

/** A price, or what a key pays at most, as one of a list of facts: `$1.25 per million tokens`. */
export function pricePerMillion(usd: Usd): string {
  return `${dollars(usd)} per million tokens`;
}

const smallestShown = 0.000001;

/**
 * Dollars rounded to three digits, and to cents from a dollar on: `$1,204.50`, `$0.0312`, `$0.000338`. Amounts below ten
 * thousand dollars have at most nine characters; what is too small for that is `<$0.00001`.
 */
export function briefDollars(usd: Usd): string {
  const amount = Number(usd);
  if (usd === null || usd === undefined || Number.isNaN(amount)) return dollars(usd);
  if (amount === 0) return '$0';
  if (amount < 0) return `-${briefDollars(-amount)}`;
  if (amount < smallestShown) return '<$0.00001';
  const decimals = Math.max(2, Math.min(6, 2 - Math.floor(Math.log10(amount))));
  const [whole = '', fraction = ''] = amount.toFixed(decimals).split('.');
  return `$${groupDigits(whole)}.${trimEnd(fraction, '0').padEnd(2, '0')}`;
}

interface Limit {
  usd: string;
  /** `none` and `total` never end. */
  period: string;
  time_zone?: string | null | undefined;
  day_starts?: string | null | undefined;
  week_starts?: string | null | undefined;
}

/** A limit of spending: `$5 per day`, `$5 in total`, `$5 per day in Europe/Berlin from 06:00`. */
export function capText({ usd, period, ...calendar }: Limit): string {
  if (period === 'total' || period === 'none') return `${dollars(usd)} in total`;
  const when = calendarText({ period, ...calendar });
  return `${dollars(usd)} per ${period}${when && ` ${when}`}`;
}

/** When the periods of a limit begin, as far as that is not midnight in UTC, and Monday: `in Europe/Berlin from 06:00`. */
function calendarText({
  period,
  time_zone: zone,
  day_starts: time,
  week_starts: weekday,
}: Omit<Limit, 'usd'>): string {
  if (period === 'total' || period === 'none') return '';
  const day = period === 'week' && weekday ? `${weekday.slice(0, 1).toUpperCase()}${weekday.slice(1)}` : '';
  const start = [day, time].filter(Boolean).join(' ');
  return [zone && `in ${zone}`, start && `from ${start}`].filter(Boolean).join(' ');
}

/** The sum of decimal amounts, exact to nine places. */
export function sumOfUsd(amounts: Iterable<string>): string {
  let nano = 0n;
  for (const amount of amounts) {
    const [, sign, units = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(amount) ?? [];
    const value = BigInt(units) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
    nano += sign ? -value : value;
  }
  const size = nano < 0n ? -nano : nano;
  const places = trimEnd((size % 1_000_000_000n).toString().padStart(9, '0'), '0');
  return `${nano < 0n ? '-' : ''}${size / 1_000_000_000n}${places && `.${places}`}`;
}
