import { pricesFor } from '../../../shared/money.ts';
import type { LiveReader } from '../catalog/index.ts';
import type { Facts } from './facts.ts';
import type { Route, RoutePreferences } from './route.ts';

/** What an answer is taken to have where the caller did not say: only to compare prices with. */
const outputTokensExpected = 1_000;
/** Text takes about a quarter of the tokens that its bytes allow. */
const bytesPerToken = 4;

/**
 * Orders the routes of one model: benched ones last, then the caller's order, then what is sorted by. Unless told, that
 * is the price; among equal prices the steadier provider, then the clearly quicker one, then the configuration's order.
 */
export function rankRoutes(
  routes: readonly Route[],
  facts: Facts,
  preferences: RoutePreferences,
  live: LiveReader,
): Route[] {
  if (routes.length < 2) return [...routes];
  const ranked = routes.map((route, place) => ({
    route,
    rank: [...rankOf(route, facts, preferences, live), place],
  }));
  ranked.sort((a, b) => compare(a.rank, b.rank));
  return ranked.map(({ route }) => route);
}

function rankOf(route: Route, facts: Facts, preferences: RoutePreferences, live: LiveReader): number[] {
  const place = preferences.order?.indexOf(route.provider) ?? -1;
  const first = [route.isLastResort ? 1 : 0, place < 0 ? Number.POSITIVE_INFINITY : place];
  const cost = expectedCost(route, facts);
  const { sort } = preferences;
  if (sort === 'price') return [...first, cost];
  const numbers = live.read(route.provider, route.offer.model);
  if (sort === 'latency') return [...first, numbers?.ttftMsP50 ?? Number.POSITIVE_INFINITY, cost];
  if (sort === 'throughput') return [...first, -(numbers?.tokensPerSecondP50 ?? 0), cost];
  // In steps, so that noise does not send one conversation to and fro between providers and their prompt caches.
  const isUnsteady = numbers !== null && numbers.uptime < 0.9 ? 1 : 0;
  const octave = Math.floor(Math.log2(Math.max(1, numbers?.ttftMsP50 ?? 1_000)));
  return [...first, cost, isUnsteady, octave];
}

/** In arbitrary units: floats are good enough to compare, and nobody is charged by them. */
function expectedCost({ offer }: Route, facts: Facts): number {
  if (offer.prices === null) return Number.POSITIVE_INFINITY;
  const inputTokens = Math.ceil(facts.inputTokensMax() / bytesPerToken);
  const prices = pricesFor(offer.prices, inputTokens);
  const outputTokens = Math.min(facts.outputTokensMax ?? outputTokensExpected, outputTokensExpected);
  return inputTokens * prices.input + outputTokens * prices.output;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [place, value] of a.entries()) {
    const other = b[place] ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
