import { pricesFor } from '../../../shared/money.ts';
import type { LiveReader } from '../catalog/index.ts';
import type { ProviderRoute, RoutePreferences } from './contract.ts';
import type { Requirements } from './requirements.ts';

/** Assumed length of an answer where the caller set no limit; only used to compare prices. */
const outputTokensExpected = 1_000;
/** A token of text takes about four bytes. */
const bytesPerToken = 4;

/**
 * Orders the routes of one model: benched ones last, then by the caller's `order`, then by `sort`. The default sort is
 * by price; equal prices are ordered by reliability, then by a clear difference in latency, then as configured.
 */
export function rankRoutes(
  routes: readonly ProviderRoute[],
  requirements: Requirements,
  preferences: RoutePreferences,
  live: LiveReader,
): ProviderRoute[] {
  if (routes.length < 2) return [...routes];
  return routes
    .map((route) => ({ route, rank: rankOf(route, requirements, preferences, live) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .map(({ route }) => route);
}

function rankOf(
  route: ProviderRoute,
  requirements: Requirements,
  preferences: RoutePreferences,
  live: LiveReader,
): number[] {
  const position = preferences.order?.indexOf(route.provider) ?? -1;
  const first = [route.isLastResort ? 1 : 0, position < 0 ? Number.POSITIVE_INFINITY : position];
  const cost = expectedCost(route, requirements);
  const { sort } = preferences;
  if (sort === 'price') return [...first, cost];
  const measured = live.read(route.provider, route.offer.model);
  if (sort === 'latency') return [...first, measured?.ttftMsP50 ?? Number.POSITIVE_INFINITY, cost];
  if (sort === 'throughput') return [...first, -(measured?.tokensPerSecondP50 ?? 0), cost];
  // In coarse steps, so that noise does not move a conversation between providers and their prompt caches.
  const isUnreliable = measured !== null && measured.uptime < 0.9 ? 1 : 0;
  const octave = Math.floor(Math.log2(Math.max(1, measured?.ttftMsP50 ?? 1_000)));
  return [...first, cost, isUnreliable, octave];
}

/** In arbitrary units: floats suffice to compare, and no one is charged by them. */
function expectedCost({ offer }: ProviderRoute, { inputTokensMax, outputTokensMax }: Requirements): number {
  if (offer.prices === null) return Number.POSITIVE_INFINITY;
  const inputTokens = Math.ceil(inputTokensMax / bytesPerToken);
  const prices = pricesFor(offer.prices, inputTokens);
  const outputTokens = Math.min(outputTokensMax ?? outputTokensExpected, outputTokensExpected);
  return inputTokens * prices.input + outputTokens * prices.output;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [position, value] of a.entries()) {
    const other = b[position] ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
