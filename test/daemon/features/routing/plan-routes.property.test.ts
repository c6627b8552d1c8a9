import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Offer } from '../../../../src/daemon/features/catalog/index.ts';
import { isUsable, type ProviderRoute } from '../../../../src/daemon/features/routing/index.ts';
import { UpstreamFailure } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { pricesFor, withMargin } from '../../../../src/shared/money/money.ts';
import {
  dollars,
  noRequirements,
  offerOf,
  planOf,
  resolutionOf,
  routeOf,
  routing,
} from '../../../support/routing.ts';

describe('for any offers, caps and health', () => {
  const priceless = fc.option(fc.tuple(fc.nat(20), fc.nat(20)), { freq: 6 });
  const offers = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      price: priceless,
      tier: fc.option(fc.nat(20)),
      available: fc.boolean(),
      fate: fc.constantFrom('healthy', 'authentication', 'billing', 'rate-limited'),
    }),
    { selector: ({ name }) => name, minLength: 1 },
  );
  const requests = fc.record({
    cap: fc.option(fc.nat(20)),
    order: fc.array(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e'), { maxLength: 3 }),
    inputTokens: fc.nat(2_000),
    isPrepaid: fc.boolean(),
  });

  test('a plan respects them and is deterministic', () => {
    fc.assert(
      fc.property(offers, requests, (specs, { cap, order, inputTokens, isPrepaid }) => {
        const { health, plan } = routing();
        const generated = specs.map(({ name, price, tier, available, fate }): Offer => {
          const prices = price && {
            ...dollars(...price),
            tiers: tier === null ? undefined : [{ ...dollars(tier), aboveInputTokens: 1_000 }],
          };
          const offer = offerOf(name, { prices: prices ?? null, available });
          if (fate !== 'healthy') health.failed(routeOf(offer), new UpstreamFailure(fate, ''));
          return offer;
        });
        const maxPrice = cap === null ? null : { input: cap * 1_000_000_000 };
        const request = planOf([resolutionOf(...generated)], {
          requirements: { ...noRequirements, inputTokensMax: inputTokens },
          preferences: { order },
          caps: { maxPrice },
          isPrepaid,
          marginPpm: 50_000,
        });
        const outcome = plan(request);
        expect(plan(request)).toEqual(outcome);
        // What is listed is what a call without benches and without more than a price for long inputs could use.
        if (inputTokens <= 1_000) {
          const unbenched = routing().plan({ ...request, preferences: {} });
          expect(isUsable(resolutionOf(...generated), request)).toBe(!(unbenched instanceof ApiError));
        }
        if (outcome instanceof ApiError) {
          expect(outcome.code).toBe('no_route');
          return;
        }
        const fateOf = (route: ProviderRoute) => specs.find(({ name }) => name === route.provider)?.fate;
        for (const { offer } of outcome) {
          expect(offer.available).toBe(true);
          if (isPrepaid || cap !== null) expect(offer.prices).not.toBeNull();
          if (cap === null || offer.prices === null) continue;
          const total = withMargin(pricesFor(offer.prices, inputTokens).input, 50_000);
          expect(total).toBeLessThanOrEqual(cap * 1_000_000_000);
        }
        expect(outcome.map(fateOf)).not.toContain('authentication');
        expect(outcome.map(fateOf)).not.toContain('billing');
        const lastHealthy = outcome.map(fateOf).lastIndexOf('healthy');
        expect(outcome.slice(0, Math.max(0, lastHealthy)).map(fateOf)).not.toContain('rate-limited');
        const positions = outcome
          .filter((route) => fateOf(route) === 'healthy')
          .map(({ provider }) => (order.includes(provider) ? order.indexOf(provider) : 99));
        expect(positions).toEqual([...positions].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });
});
