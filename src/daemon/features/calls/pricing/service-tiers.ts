import { type Prices, scaledPrices } from '../../../../shared/money/money.ts';
import type { Offer } from '../../catalog/index.ts';

/** In hundredths of the standard price. Source: OpenAI's pricing page; priority differs by model. */
const discounted = new Map([
  ['flex', 50],
  ['batch', 50],
]);
const priority: readonly [RegExp, number][] = [
  [/gpt-4o-mini/, 167],
  [/gpt-4o/, 170],
  [/gpt-4\.1|\bo3/, 175],
  [/gpt-5-mini|o4-mini/, 182],
  [/./, 200],
];

/** The prices of a service tier, where they are known: OpenAI's. Others are the standard ones. */
export function pricesOfTier(prices: Prices, tier: string, { provider, model }: Offer): Prices {
  if (provider !== 'openai') return prices;
  const percent =
    tier === 'priority' ? priority.find(([models]) => models.test(model))?.[1] : discounted.get(tier);
  return percent === undefined ? prices : scaledPrices(prices, percent);
}
