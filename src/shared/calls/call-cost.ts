import type { Static } from 'typebox';
import type { PricesView } from '../contract/models.ts';
import type { CostView, TokenCounts } from '../contract/vocabulary.ts';
import { formatUsd, parseUsd } from '../money/money.ts';

/** One kind of tokens of a call, with what they cost. */
export interface CostPart {
  kind: 'input' | 'cached input' | 'cache write' | 'output';
  tokens: number;
  /** Dollars per million tokens; null if it was not kept. */
  price: string | null;
  /** In dollars; null without a price. */
  usd: string | null;
}

/** The cost of a call by kind of token. */
export interface CostParts {
  parts: CostPart[];
  /** What the provider charges beyond the parts, such as audio or tools of its own; null if there is nothing. */
  rest: string | null;
  /** What cached input would have cost more without the cache, in dollars; null without any. */
  saved: string | null;
}

const perPrice = 1_000_000;

interface PricedCall {
  tokens: TokenCounts;
  /** As they were when the call was settled; null if they were not kept. */
  prices: Static<typeof PricesView> | null;
  /** Null if the price was unknown. */
  cost: CostView | null;
}

/** Splits the cost of a call by kind of token. */
export function costParts({ tokens, prices, cost }: PricedCall): CostParts {
  const part = (kind: CostPart['kind'], count: number, price: string | undefined): CostPart[] =>
    count <= 0
      ? []
      : [{ kind, tokens: count, price: price ?? null, usd: price ? formatUsd(nanoOf(count, price)) : null }];
  const parts = [
    ...part('input', tokens.input - tokens.cached_input - tokens.cache_write, prices?.input),
    ...part('cached input', tokens.cached_input, prices?.cached_input),
    ...part('cache write', tokens.cache_write, prices?.cache_write),
    ...part('output', tokens.output, prices?.output),
  ];
  if (prices === null || cost === null) return { parts, rest: null, saved: null };
  const sum = parts.reduce((total, { usd }) => total + (parseUsd(usd ?? '0') ?? 0), 0);
  const rest = (parseUsd(cost.provider_usd) ?? 0) - sum;
  const saved = nanoOf(tokens.cached_input, prices.input) - nanoOf(tokens.cached_input, prices.cached_input);
  return {
    parts,
    // Each part may be rounded.
    rest: Math.abs(rest) <= parts.length ? null : formatUsd(rest),
    saved: saved > 0 ? formatUsd(saved) : null,
  };
}

/** Nano-dollars for `count` tokens at a price in dollars per million. */
function nanoOf(count: number, price: string): number {
  return Math.round((count * (parseUsd(price) ?? 0)) / perPrice);
}
