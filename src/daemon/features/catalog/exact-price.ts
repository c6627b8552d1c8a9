import type { NanoUsd, Prices } from '../../../shared/money.ts';

/** Prices as people and libraries write them: dollars per million tokens, as a decimal or as a number that prints as one. */
export interface WrittenPrices {
  input: string | number;
  output: string | number;
  cachedInput?: string | number;
  cacheWrite?: string | number;
}

/** More decimal places than any price has; keeps a hostile exponent from growing a huge integer. */
const exponentMax = 30;

/**
 * Dollars as written (`"0.075"`, `0.075`, `7.5e-2`) → nano-dollars, through the decimal text and never through a
 * product of floats. Past nine places it is rounded up. Undefined when it is no decimal, negative or out of range.
 */
export function nanoFromDecimal(value: string | number): NanoUsd | undefined {
  const match = /^(\d{1,15})(?:\.(\d{1,30}))?(?:e([+-]?\d{1,3}))?$/i.exec(String(value).trim());
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText) - fraction.length + 9;
  if (Math.abs(exponent) > exponentMax) return undefined;
  const digits = BigInt(whole + fraction);
  const power = 10n ** BigInt(Math.abs(exponent));
  const nano = Number(exponent >= 0 ? digits * power : (digits + power - 1n) / power);
  return Number.isSafeInteger(nano) ? nano : undefined;
}

/** Undefined when a price is not a decimal. Cached input and cache writes cost what input costs unless told. */
export function pricesFromDecimals(written: WrittenPrices): Prices | undefined {
  const input = nanoFromDecimal(written.input);
  const cachedInput = nanoFromDecimal(written.cachedInput ?? written.input);
  const cacheWrite = nanoFromDecimal(written.cacheWrite ?? written.input);
  const output = nanoFromDecimal(written.output);
  if (input === undefined || output === undefined) return undefined;
  if (cachedInput === undefined || cacheWrite === undefined) return undefined;
  return { input, cachedInput, cacheWrite, output };
}

/** What the simulator and local servers cost. */
export const freePrices: Prices = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };
