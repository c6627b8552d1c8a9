import { duration } from './durations.ts';
import { dollars } from './money.ts';
import { count } from './numbers.ts';

/** A value in the unit of an alert: `$5`, `5 %`, `8.00 s`, `12 calls`; `–` without one. */
export function alertValue(value: string | null, unit: string | null): string {
  if (value === null) return '–';
  if (unit === 'usd') return dollars(value);
  if (unit === 'percent') return `${value} %`;
  if (unit === 'ms') return duration(Number(value));
  return unit === 'calls' ? `${count(Number(value))} ${value === '1' ? 'call' : 'calls'}` : value;
}
