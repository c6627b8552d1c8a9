import { expect, test } from 'vitest';
import { pricesOfTier } from '../../../../../src/daemon/features/calls/pricing/service-tiers.ts';
import type { Offer } from '../../../../../src/daemon/features/catalog/index.ts';

const prices = {
  input: 1_000_000_000,
  cachedInput: 100_000_000,
  cacheWrite: 0,
  output: 8_000_000_001,
  media: { audioInput: 4 },
  fees: { webSearch: 10 },
  tiers: [
    {
      aboveInputTokens: 100,
      input: 2_000_000_000,
      cachedInput: 200_000_000,
      cacheWrite: 0,
      output: 16_000_000_000,
    },
  ],
};
const of = (provider: string, model = 'openai/gpt-5') => ({ provider, model }) as Offer;

test('flex costs half, in all parts but the fees of tools', () => {
  expect(pricesOfTier(prices, 'flex', of('openai'))).toEqual({
    input: 500_000_000,
    cachedInput: 50_000_000,
    cacheWrite: 0,
    output: 4_000_000_001,
    media: { audioInput: 2 },
    fees: { webSearch: 10 },
    tiers: [
      {
        aboveInputTokens: 100,
        input: 1_000_000_000,
        cachedInput: 100_000_000,
        cacheWrite: 0,
        output: 8_000_000_000,
      },
    ],
  });
});

test.each([
  ['openai/gpt-5', 2_000_000_000],
  ['openai/gpt-4.1', 1_750_000_000],
  ['openai/gpt-4o-mini', 1_670_000_000],
])('priority of %s', (model, input) => {
  expect(pricesOfTier(prices, 'priority', of('openai', model)).input).toBe(input);
});

test.each([
  ['openai', 'a_new_tier'],
  ['someone', 'flex'],
])('the tier of %s, %s, has the standard prices', (provider, tier) => {
  expect(pricesOfTier(prices, tier, of(provider))).toBe(prices);
});
