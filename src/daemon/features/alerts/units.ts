import { type AlertKind, alertUnits } from '../../../shared/constants/alert-kinds.ts';
import { formatUsd, parseUsd } from '../../../shared/money/money.ts';

/** A value of a kind as the API writes it: decimal text in the kind's unit. */
export function valueText(kind: AlertKind, value: number): string {
  const unit = alertUnits[kind];
  if (unit === 'usd') return formatUsd(value);
  return unit === 'percent' ? String(value / 100) : String(value);
}

/** Text of a threshold as an integer; undefined if it is not one of the kind. */
export function thresholdOf(kind: AlertKind, text: string): number | undefined {
  const unit = alertUnits[kind];
  const [number, decimals = ''] = [Number(text), text.split('.')[1]];
  if (number === 0) return undefined;
  if (unit === 'usd') return parseUsd(text);
  if (unit === 'percent') return number <= 100 && decimals.length <= 2 ? Math.round(number * 100) : undefined;
  return Number.isInteger(number) ? number : undefined;
}

const thresholdForms = {
  usd: 'dollars above 0, such as "5" or "0.25"',
  percent: 'a percentage above 0 and at most 100 with up to two decimals, such as "5"',
  ms: 'a whole number of milliseconds above 0, such as "8000"',
  calls: 'a whole number of calls above 0, such as "10"',
};

/** What a threshold of a kind must be, for the end of a sentence; undefined for one that has none. */
export function thresholdForm(kind: AlertKind): string | undefined {
  const unit = alertUnits[kind];
  return unit === null ? undefined : thresholdForms[unit];
}
