/** Numbers as people read them; exact ones are in tables and downloads. */

const grouped = (digits: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const whole = grouped(0);
const tenths = grouped(1);
const cents = grouped(2);
const significant = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });

/** `$31.20`, `$0.0042`, `$0`. */
export function dollars(usd: string | number): string {
  const amount = Number(usd);
  const size = Math.abs(amount);
  const sign = amount < 0 ? '−' : '';
  if (size === 0) return '$0';
  return `${sign}$${(size < 0.095 ? significant : cents).format(size)}`;
}

/** `8,214`. */
export function count(value: number): string {
  return whole.format(value);
}

/** `8.21K`, for axes and where room is scarce. */
export function shortCount(value: number): string {
  return compact.format(value);
}

/** `413 ms`, `2.2 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${ms < 10 && ms % 1 !== 0 ? tenths.format(ms) : whole.format(ms)} ms`;
  if (ms < 59_950) return `${tenths.format(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `1.2 %` of a share from 0 to 1. */
export function percent(share: number): string {
  return `${tenths.format(share * 100)} %`;
}

/** `+14 %`: how a number changed against the one before; undefined where there was none. */
export function change(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const points = Math.round((now / before - 1) * 100);
  if (points === 0) return '±0 %';
  return `${points > 0 ? '+' : '−'}${whole.format(Math.abs(points))} %`;
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
  const places = (size % 1_000_000_000n)
    .toString()
    .padStart(9, '0')
    .replace(/0{1,9}$/, '');
  return `${nano < 0n ? '-' : ''}${size / 1_000_000_000n}${places && `.${places}`}`;
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
