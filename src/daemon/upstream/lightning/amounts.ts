import { countOf } from '../json.ts';

/** A count that a node states as a number or, as 64-bit numbers often are, as text; undefined for anything else. */
export function wholeOf(value: unknown): number | undefined {
  return countOf(typeof value === 'string' && /^\s*\d{1,16}\s*$/.test(value) ? Number(value) : value);
}

/** The same with a sign, as in histories of what was sent and received. */
export function integerOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*-?\d{1,16}\s*$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}

/**
 * An amount in millisatoshis, of which a unit has `unitMsat`; null if it is zero or cannot be read. What was paid is never
 * zero, and nodes show that for what they do not know.
 */
export function amountOf(value: unknown, unitMsat = 1): number | null {
  return countOf((wholeOf(value) ?? Number.NaN) * unitMsat) || null;
}

/** A fee in millisatoshis: zero if the node names none, null if it cannot be read. */
export function feeOf(value: unknown): number | null {
  return value === undefined || value === null || value === '' ? 0 : (wholeOf(value) ?? null);
}

/** Above this, a number cannot be seconds of this millennium. */
const secondsMax = 100_000_000_000;

/** A time in milliseconds since 1970, of seconds, milliseconds or a date; undefined if there is none. */
export function timeOf(value: unknown): number | undefined {
  const count = wholeOf(value);
  if (count === undefined) {
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return ms > 0 ? ms : undefined;
  }
  if (count === 0) return undefined;
  return count > secondsMax ? count : count * 1000;
}
