import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Offer } from '../../../src/daemon/features/catalog/index.ts';
import { UpstreamFailure } from '../../../src/daemon/features/inference/index.ts';
import type { Route } from '../../../src/daemon/features/routing/index.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import { pricesFor, withMargin } from '../../../src/shared/money.ts';
import { dollars, noFacts, offerOf, planOf, resolutionOf, routeOf, routing } from '../../support/routing.ts';

describe('for any offers, caps and health', () => {
  const priceless = fc.option(fc.tuple(fc.nat(20), fc.nat(20)), { freq: 6 });
  const offers = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      price: priceless,
      tier: fc.option(fc.nat(20)),
      available: fc.boolean(),
      fate: fc.constantFrom('well', 'authentication', 'billing', 'rate-limited'),
    }),
    { selector: ({ name }) => name, minLength: 1 },
  );
  const wishes = fc.record({
    cap: fc.option(fc.nat(20)),
    order: fc.array(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e'), { maxLength: 3 }),
    inputTokens: fc.nat(2_000),
    isPrepaid: fc.boolean(),
  });

  test('a plan keeps to them and is always the same', () => {
    fc.assert(
      fc.property(offers, wishes, (specs, { cap, order, inputTokens, isPrepaid }) => {
        const { health, plan } = routing();
        const made = specs.map(({ name, price, tier, available, fate }): Offer => {
          const prices = price && {
            ...dollars(...price),
            tiers: tier === null ? undefined : [{ ...dollars(tier), aboveInputTokens: 1_000 }],
          };
          const offer = offerOf(name, { prices: prices ?? null, available });
          if (fate !== 'well') health.failed(routeOf(offer), new UpstreamFailure(fate, ''));
          return offer;
        });
        const maxPrice = cap === null ? null : { input: cap * 1_000_000_000 };
        const request = planOf([resolutionOf(...made)], {
          facts: { ...noFacts, inputTokensMax: () => inputTokens },
          preferences: { order },
          caps: { maxPrice },
          isPrepaid,
          marginPpm: 50_000,
        });
        const outcome = plan(request);
        expect(plan(request)).toEqual(outcome);
        if (outcome instanceof ApiError) {
          expect(outcome.code).toBe('no_route');
          return;
        }
        const fateOf = (route: Route) => specs.find(({ name }) => name === route.provider)?.fate;
        for (const { offer } of outcome) {
          expect(offer.available).toBe(true);
          if (isPrepaid || cap !== null) expect(offer.prices).not.toBeNull();
          if (cap === null || offer.prices === null) continue;
          const total = withMargin(pricesFor(offer.prices, inputTokens).input, 50_000);
          expect(total).toBeLessThanOrEqual(cap * 1_000_000_000);
        }
        expect(outcome.map(fateOf)).not.toContain('authentication');
        expect(outcome.map(fateOf)).not.toContain('billing');
        const lastWell = outcome.map(fateOf).lastIndexOf('well');
        expect(outcome.slice(0, Math.max(0, lastWell)).map(fateOf)).not.toContain('rate-limited');
        const places = outcome
          .filter((route) => fateOf(route) === 'well')
          .map(({ provider }) => (order.includes(provider) ? order.indexOf(provider) : 99));
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });
});
