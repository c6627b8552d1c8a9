import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costParts } from '../../../src/shared/calls/call-cost.ts';
import { costOf, formatUsd, parseUsd } from '../../../src/shared/money/money.ts';

const tokenCount = fc.integer({ min: 0, max: 2_000_000 });
const price = fc.integer({ min: 0, max: 100_000_000_000 });

test('parts add up to the cost of the provider, but for a rounding of each', () => {
  fc.assert(
    fc.property(
      fc.record({ fresh: tokenCount, cached: tokenCount, written: tokenCount, output: tokenCount }),
      fc.record({ input: price, cachedInput: price, cacheWrite: price, output: price }),
      ({ fresh, cached, written, output }, prices) => {
        const counts = { input: fresh + cached + written, cachedInput: cached, cacheWrite: written, output };
        const { provider } = costOf(prices, { ...counts, reasoning: 0 }, 0);
        const { parts, rest } = costParts({
          tokens: {
            input: counts.input,
            cached_input: cached,
            cache_write: written,
            output,
            reasoning: 0,
          },
          prices: {
            input: formatUsd(prices.input),
            cached_input: formatUsd(prices.cachedInput),
            cache_write: formatUsd(prices.cacheWrite),
            output: formatUsd(prices.output),
          },
          cost: { provider_usd: formatUsd(provider), margin_usd: '0', total_usd: formatUsd(provider) },
        });
        const sum = parts.reduce((total, { usd }) => total + (parseUsd(usd ?? '') ?? 0), 0);
        expect(Math.abs(sum - provider)).toBeLessThanOrEqual(4);
        expect(rest).toBeNull();
        expect(parts.reduce((total, { tokens }) => total + tokens, 0)).toBe(counts.input + output);
      },
    ),
  );
});

test('without prices, the tokens are known and nothing else', () => {
  const tokens = { input: 12, cached_input: 4, cache_write: 0, output: 3, reasoning: 0 };
  const nothing = { price: null, usd: null };
  expect(costParts({ tokens, prices: null, cost: null })).toEqual({
    parts: [
      { kind: 'input', tokens: 8, ...nothing },
      { kind: 'cached input', tokens: 4, ...nothing },
      { kind: 'output', tokens: 3, ...nothing },
    ],
    rest: null,
    saved: null,
  });
});
