import { describe, expect, test } from 'vitest';
import { capOutputToBudget, costBound } from '../../../../../src/daemon/features/calls/pricing/cost-bound.ts';
import { pricesOfTier } from '../../../../../src/daemon/features/calls/pricing/service-tiers.ts';
import { inferenceOf } from '../../../../support/inference.ts';
import { dollars, offerOf, routeOf } from '../../../../support/routing.ts';

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
const of = (priceSource: string | undefined, providerModel = 'gpt-5') =>
  offerOf('any', { priceSource, providerModel });

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
  ['openai', 'gpt-5', 'priority', 2_000_000_000],
  ['openai', 'gpt-4.1', 'priority', 1_750_000_000],
  ['openai', 'gpt-4o-mini', 'priority', 1_670_000_000],
  ['google', 'gemini-2.5-flash', 'flex', 500_000_000],
  ['google', 'gemini-2.5-flash', 'priority', 1_800_000_000],
  ['anthropic', 'claude-opus-5-5', 'fast', 2_000_000_000],
  ['anthropic', 'claude-opus-4-6', 'fast', 6_000_000_000],
  ['anthropic', 'claude-sonnet-4-5', 'batch', 500_000_000],
  ['anthropic', 'claude-sonnet-4-5', 'priority', 1_000_000_000],
])('of %s, %s in the tier %s', (source, model, tier, input) => {
  expect(pricesOfTier(prices, tier, of(source, model))?.input).toBe(input);
});

test.each([
  ['openai', 'gpt-5', 'a_new_tier'],
  ['openai', 'gpt-5', 'constructor'],
  ['google', 'gemini-2.5-flash', 'provisioned_throughput'],
  ['anthropic', 'claude-sonnet-4-5', 'fast'],
  ['mistral', 'mistral-large', 'flex'],
])('of %s, %s, the tier %s has no known price', (source, model, tier) => {
  expect(pricesOfTier(prices, tier, of(source, model))).toBeNull();
});

test('prices that the operator has set apply to every tier', () => {
  expect(pricesOfTier(prices, 'flex', of(undefined))).toBe(prices);
});

describe('a hold', () => {
  const most = (source: string, body: Record<string, unknown>, providerModel?: string) => {
    const inference = inferenceOf({ body, outputTokensMax: 100 });
    const offer = offerOf('any', {
      prices: dollars(1),
      priceSource: source,
      providerModel: providerModel ?? 'm',
    });
    const route = routeOf(offer);
    const amount = costBound([route], inference, { inputTokens: 100, marginPpm: 0 });
    const { outputTokensOn } =
      capOutputToBudget({ routes: [route] }, inference, {
        inputTokens: 100,
        marginPpm: 0,
        affordable: amount,
      }) ?? {};
    // What pays for the hold pays for the whole output.
    expect(outputTokensOn?.(route)).toBe(100);
    return amount;
  };
  const standard = most('openai', {});

  test.each([
    ['openai', { service_tier: 'priority' }, 2],
    ['openai', { service_tier: 'auto' }, 2],
    ['openai', { service_tier: 'default' }, 1],
    ['openai', { service_tier: 'flex' }, 1],
    ['anthropic', { speed: 'fast' }, 2],
    ['anthropic', { service_tier: 'auto' }, 1],
    ['anthropic', { speed: 'standard' }, 1],
  ])('of %s, asked for %j, covers the dearest tier that may serve', (source, body, times) => {
    expect(most(source, body, 'claude-opus-5')).toBe(standard * times);
  });
});
