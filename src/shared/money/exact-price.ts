import type { NanoUsd, Prices } from './money.ts';

/** Prices as written in configuration and libraries: dollars per million tokens, as a decimal or a number. */
export interface WrittenPrices {
  input: string | number;
  output: string | number;
  cachedInput?: string | number;
  cacheWrite?: string | number;
}

/** Exceeds the decimal places of any price, and keeps a hostile exponent from creating a huge integer. */
const exponentMax = 30;

/** A price of a million tokens is below this: more than any model costs, and the cost of the largest call is still exact. */
const priceEnd: NanoUsd = 4_000 * 1_000_000_000;

/**
 * Converts dollars (`"0.075"`, `0.075`, `7.5e-2`) to nano-dollars, exactly, by their decimal text. Rounds up past nine
 * places. Undefined if it is not a decimal, or no plausible price of a million tokens.
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
  return nano < priceEnd ? nano : undefined;
}

/** Undefined if a price is not a decimal. Cached input and cache writes default to the price of input. */
export function pricesFromDecimals(written: WrittenPrices): Prices | undefined {
  const input = nanoFromDecimal(written.input);
  const cachedInput = nanoFromDecimal(written.cachedInput ?? written.input);
  const cacheWrite = nanoFromDecimal(written.cacheWrite ?? written.input);
  const output = nanoFromDecimal(written.output);
  if (input === undefined || output === undefined) return undefined;
  if (cachedInput === undefined || cacheWrite === undefined) return undefined;
  return { input, cachedInput, cacheWrite, output };
}

/** The prices of the simulator and of local servers. */
export const freePrices: Prices = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };
