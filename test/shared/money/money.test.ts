import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  costOf,
  formatUsd,
  type MediaTokens,
  outputTokensPaidBy,
  type Prices,
  parseUsd,
  pricesFor,
  type Tokens,
  withMargin,
} from '../../../src/shared/money/money.ts';

const price = fc.integer({ min: 0, max: 200_000_000_000 });
const prices: fc.Arbitrary<Prices> = fc.record({
  input: price,
  cachedInput: price,
  cacheWrite: price,
  output: price,
});
const count = fc.integer({ min: 0, max: 2_000_000 });
const tokens: fc.Arbitrary<Tokens> = fc
  .tuple(count, count, count, count)
  .map(([plain, cachedInput, cacheWrite, output]) => ({
    input: plain + cachedInput + cacheWrite,
    cachedInput,
    cacheWrite,
    output,
    reasoning: 0,
  }));
const margin = fc.integer({ min: 0, max: 2_000_000 });

describe('the cost of a call', () => {
  test('is always the provider’s cost plus the margin', () => {
    fc.assert(
      fc.property(prices, tokens, margin, (at, used, marginPpm) => {
        const cost = costOf(at, used, marginPpm);
        expect(cost.provider + cost.margin).toBe(cost.total);
        expect(cost.margin).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('never falls with more usage', () => {
    fc.assert(
      fc.property(prices, tokens, count, (at, used, more) => {
        const further = { ...used, output: used.output + more };
        expect(costOf(at, further, 0).total).toBeGreaterThanOrEqual(costOf(at, used, 0).total);
      }),
    );
  });

  test('is rounded up, once', () => {
    const at = { input: 1, cachedInput: 1, cacheWrite: 1, output: 1 };
    const one = { input: 1, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    expect(costOf(at, one, 0).total).toBe(1);
    expect(costOf(at, { ...one, input: 1_000_000, output: 0 }, 0).total).toBe(1);
    expect(costOf(at, { ...one, input: 1_000_001, output: 0 }, 0).total).toBe(2);
  });

  test('prices cached and cache-write tokens separately from the rest', () => {
    const at = {
      input: 3_000_000_000,
      cachedInput: 300_000_000,
      cacheWrite: 3_750_000_000,
      output: 15_000_000_000,
    };
    const used = { input: 1000, cachedInput: 600, cacheWrite: 100, output: 50, reasoning: 20 };
    // 300 × 3000 + 600 × 300 + 100 × 3750 + 50 × 15000
    expect(costOf(at, used, 0).provider).toBe(900_000 + 180_000 + 375_000 + 750_000);
  });

  test('prices audio and image tokens separately, up to the total', () => {
    const text = { input: 1, cachedInput: 1, cacheWrite: 1, output: 1 };
    const media = { audioInput: 10, cachedAudio: 5, audioOutput: 20, imageOutput: 30 };
    const at: Prices = { ...text, media };
    const used = { input: 100, cachedInput: 20, cacheWrite: 0, output: 50, reasoning: 0 };
    const cost = (tokens: Partial<MediaTokens>) => {
      const none = { audioInput: 0, cachedAudio: 0, audioOutput: 0, imageOutput: 0 };
      const millions = (tokens: Tokens) => ({
        ...tokens,
        input: tokens.input * 1e6,
        cachedInput: tokens.cachedInput * 1e6,
        output: tokens.output * 1e6,
      });
      const parts = Object.entries({ ...none, ...tokens }).map(([name, count]) => [name, count * 1e6]);
      return costOf(at, { ...millions(used), media: Object.fromEntries(parts) }, 0).total;
    };
    expect(cost({})).toBe(150);
    expect(cost({ audioInput: 30, cachedAudio: 10 })).toBe(150 + 20 * 9 + 10 * 4);
    expect(cost({ audioOutput: 5, imageOutput: 40 })).toBe(150 + 5 * 19 + 40 * 29);
    expect(cost({ audioInput: 999, cachedAudio: 999 })).toBe(150 + 20 * 4 + 80 * 9);
    expect(cost({ audioOutput: 999, imageOutput: 999 })).toBe(150 + 50 * 19);
    expect(costOf(text, { ...used, media: { ...media } }, 0)).toEqual(costOf(text, used, 0));
  });

  test('includes the fees of provider tools per use', () => {
    const text = { input: 1_000_000, cachedInput: 0, cacheWrite: 0, output: 1_000_000 };
    const at: Prices = { ...text, fees: { webSearch: 10_000_000 } };
    const used = { input: 5, cachedInput: 0, cacheWrite: 0, output: 7, reasoning: 0 };
    const toolUses = { webSearch: 3, fileSearch: 4 };
    expect(costOf(at, { ...used, toolUses }, 100_000)).toMatchObject({
      provider: 30_000_012,
      total: 33_000_014,
    });
    expect(costOf(text, { ...used, toolUses }, 0)).toEqual(costOf(text, used, 0));
    expect(outputTokensPaidBy(30_000_012, at, { ...used, toolUses }, 0)).toBe(7);
    expect(outputTokensPaidBy(30_000_000, at, { ...used, toolUses }, 0)).toBe(-1);
  });

  test('follows the price tier of the input length', () => {
    const tier = { aboveInputTokens: 200_000, input: 6, cachedInput: 6, cacheWrite: 6, output: 6 };
    const at: Prices = { input: 3, cachedInput: 3, cacheWrite: 3, output: 3, tiers: [tier] };
    expect(pricesFor(at, 200_000).input).toBe(3);
    expect(pricesFor(at, 200_001).input).toBe(6);
  });
});

describe('dollars as text', () => {
  test.each([
    [0, '0'],
    [1, '0.000000001'],
    [1234, '0.000001234'],
    [1_500_000_000, '1.5'],
    [-20_000_000, '-0.02'],
  ])('%i nano-dollars are %s', (amount, text) => {
    expect(formatUsd(amount)).toBe(text);
    expect(parseUsd(text)).toBe(amount);
  });

  test('are parsed back unchanged', () => {
    fc.assert(fc.property(fc.integer({ min: -1e15, max: 1e15 }), (n) => parseUsd(formatUsd(n)) === n));
  });

  test.each(['', '1e3', '1.', '.5', '1.0000000001', '99999999', '9007200', '9999999', '0x1', ' 1', 'NaN'])(
    'reject %j',
    (text) => {
      expect(parseUsd(text)).toBeUndefined();
    },
  );
});

test('a margin of five percent is added to a price, rounded up', () => {
  expect(withMargin(1_000_000, 50_000)).toBe(1_050_000);
  expect(withMargin(1, 50_000)).toBe(2);
});
