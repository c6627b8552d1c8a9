import { groupDigits } from '../shared/text/group-digits.ts';

/*
 * Counts, shares and rates as the CLI, the TUI and the page show them. Brief forms have at most three digits; JSON,
 * downloads and titles have the exact value.
 */

/** `1234567` → `1,234,567`. */
export function count(number: number): string {
  return groupDigits(String(number));
}

/** Like `count`, but `44.2k`, `131k` and `4.5M` from 10,000 on. */
export function briefCount(number: number): string {
  // Charts of few calls have marks at fractions.
  if (number < 10_000) return Number.isInteger(number) ? count(number) : String(rounded(number, 2));
  const [part, unit] = partAndUnit(number);
  return `${rounded(part, part < 99.95 ? 1 : 0)}${unit}`;
}

function partAndUnit(number: number): [number, string] {
  if (number < 999_500) return [number / 1e3, 'k'];
  return number < 999_500_000 ? [number / 1e6, 'M'] : [number / 1e9, 'B'];
}

/** A share from 0 to 1: `0 %`, `<0.1 %`, `1.2 %`, `43.5 %`, `100 %`. */
export function percent(share: number): string {
  const hundred = share * 100;
  if (hundred > 0 && hundred < 0.1) return '<0.1 %';
  return `${rounded(hundred, 1)} %`;
}

/** A percentage that someone set: `80 %`. */
export function points(percentage: number): string {
  return `${percentage} %`;
}

/** A score, a loss or a temperature, always with as many decimals: `0.90`. */
export function decimal(number: number, digits: number): string {
  return number.toFixed(digits);
}

const rounded = (number: number, digits: number) => Number(number.toFixed(digits));

/** How a number changed against the one before: `+14 %`; undefined where there was none. */
export function change(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const points = Math.round((now / before - 1) * 100);
  if (points === 0) return '±0 %';
  return `${points > 0 ? '+' : '−'}${count(Math.abs(points))} %`;
}

interface Streamed {
  tokens: { output: number };
  timings: { first_token_ms: number | null; total_ms: number };
}

/** Tokens a second of the answer; undefined where too little is known. */
export function tokenRate({ tokens, timings: { first_token_ms: first, total_ms: total } }: Streamed) {
  if (first === null || tokens.output < 2 || total - first < 1) return undefined;
  return (tokens.output * 1000) / (total - first);
}

/** Tokens a second: `8.4 tok/s`, `71 tok/s`; `–` where unknown. */
export function speed(rate: number | null | undefined): string {
  return rate === null || rate === undefined ? '–' : `${briefRate(rate)} tok/s`;
}

/** `8.4`, `71`, `1,204`; `–` where unknown. */
export function briefRate(rate: number | null | undefined): string {
  if (rate === null || rate === undefined) return '–';
  return rate < 9.95 ? decimal(rate, 1) : briefCount(Math.round(rate));
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
