import { countOf } from '../json.ts';

/** A count in LND's JSON, in which 64-bit numbers are texts; undefined for anything else. */
export function integerOf(value: unknown): number | undefined {
  return countOf(typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value);
}
