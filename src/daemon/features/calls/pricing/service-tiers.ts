import { type Prices, scaledPrices } from '../../../../shared/money/money.ts';
import type { Offer } from '../../catalog/index.ts';

/** In hundredths of the standard price, for models whose name matches; the first match counts. */
type TierPrices = Readonly<Record<string, readonly (readonly [models: RegExp, percent: number])[]>>;

const half = [[/./, 50]] as const;
const standard = [[/./, 100]] as const;

/** By the price library's name of a list. A tier that is not here has no known price. */
const lists: Readonly<Record<string, TierPrices>> = {
  /** Source: OpenAI's pricing page. */
  openai: {
    flex: half,
    batch: half,
    priority: [
      [/gpt-4o-mini/, 167],
      [/gpt-4o/, 170],
      [/gpt-4\.1|\bo3/, 175],
      [/gpt-5-mini|o4-mini/, 182],
      [/./, 200],
    ],
  },
  /** Source: Google's pages on flex and priority inference; vercel/ai#15488 and BerriAI/litellm#37647 for the names. */
  google: { flex: half, batch: half, priority: [[/./, 180]] },
  /**
   * Source: Anthropic's pages "Fast mode" and "Service tiers". Its priority tier is capacity that was paid in advance, and is
   * used up in proportion to the list prices.
   */
  anthropic: {
    batch: half,
    priority: standard,
    fast: [
      [/opus-4[-.]8|opus-5/, 200],
      [/opus-4[-.][67]/, 600],
    ],
  },
  /** Source: Groq's page "Service tiers". */
  groq: { flex: standard },
  /** Source: xAI's page "Priority processing". */
  'x-ai': { priority: [[/./, 200]] },
};

/**
 * The prices of a service tier; null if the list has none for it. Prices that the operator has set apply to every tier.
 */
export function pricesOfTier(
  prices: Prices,
  tier: string,
  { priceSource, providerModel }: Pick<Offer, 'priceSource' | 'providerModel'>,
): Prices | null {
  if (priceSource === undefined) return prices;
  const percent = percentOf(priceSource, tier, providerModel);
  if (percent === undefined) return null;
  return percent === 100 ? prices : scaledPrices(prices, percent);
}

function percentOf(source: string, tier: string, model: string): number | undefined {
  const tiers = Object.hasOwn(lists, source) ? lists[source] : undefined;
  const models = tiers && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
  return models?.find(([name]) => name.test(model))?.[1];
}

/** The prices of the dearest tier that may serve a request for one: with `auto` it can be `priority`, as the account is set. */
export function dearestPrices(prices: Prices, offer: Offer, requested: string): Prices {
  const ofTier = pricesOfTier(prices, requested === 'auto' ? 'priority' : requested, offer);
  // A provider may answer with the standard tier instead of a cheaper one.
  return ofTier !== null && ofTier.output > prices.output ? ofTier : prices;
}
