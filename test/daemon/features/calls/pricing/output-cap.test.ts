import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  capOutputToBudget,
  noTokens,
  wholeOutput,
} from '../../../../../src/daemon/features/calls/pricing/cost-bound.ts';
import type { Offer } from '../../../../../src/daemon/features/catalog/index.ts';
import type { Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import { costOf, outputTokensPaidBy, type Prices } from '../../../../../src/shared/money/money.ts';
import { inferenceOf } from '../../../../support/inference.ts';
import { offerOf, routeOf } from '../../../../support/routing.ts';

const usd = 1_000_000_000;
const price = fc.integer({ min: 0, max: 200 * usd });
const anyPrices: fc.Arbitrary<Prices> = fc.record({
  input: price,
  cachedInput: price,
  cacheWrite: price,
  output: price,
});
const margin = fc.constantFrom(0, 50_000, 333_333);

function routeAt(prices: Prices | null, more: Partial<Offer> = {}) {
  return routeOf(offerOf('any', { prices, contextLength: 1_000_000, outputTokensMax: 1_000, ...more }));
}

const asking = (outputTokensMax: number | undefined, body: Inference['body'] = {}) =>
  inferenceOf({ wire: 'chat', items: [], outputTokensMax, body });

test('an amount pays for the most tokens that do not cost more', () => {
  const input = fc.integer({ min: 0, max: 1_000_000 });
  const amount = fc.integer({ min: 0, max: 1_000 * usd });
  const outputPrice = fc.oneof(fc.constant(0), fc.integer({ min: usd / 1_000, max: 200 * usd }));
  fc.assert(
    fc.property(anyPrices, outputPrice, input, amount, margin, (others, output, input, amount, marginPpm) => {
      const prices = { ...others, output };
      const tokens = { ...noTokens, input };
      const count = outputTokensPaidBy(amount, prices, tokens, marginPpm);
      const costAt = (output: number) => costOf(prices, { ...tokens, output }, marginPpm).total;
      if (count < 0) {
        expect(costAt(0)).toBeGreaterThan(amount);
      } else if (count === Number.POSITIVE_INFINITY) {
        expect([prices.output, costAt(0) <= amount]).toEqual([0, true]);
      } else {
        expect(costAt(count)).toBeLessThanOrEqual(amount);
        expect(costAt(count + 1)).toBeGreaterThan(amount);
      }
    }),
  );
});

describe('a call capped to the remaining budget', () => {
  test('never holds more, and each route gets the output that it pays for', () => {
    const routes = fc.array(fc.tuple(fc.option(anyPrices, { freq: 5 }), fc.integer({ min: 1, max: 5_000 })), {
      minLength: 1,
      maxLength: 4,
    });
    const asked = fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined });
    const choices = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(
        routes,
        asked,
        choices,
        margin,
        fc.nat(100_000),
        fc.nat(2 * usd),
        (offers, most, n, marginPpm, inputTokens, affordable) => {
          const inference = asking(most, { n });
          const all = offers.map(([prices, outputTokensMax]) => routeAt(prices, { outputTokensMax }));
          const bound = { inputTokens, marginPpm };
          const full = wholeOutput(all, inference, bound);
          const cut = capOutputToBudget(full, inference, { ...bound, affordable });
          if (full.amount <= affordable) expect(cut?.amount).toBe(full.amount);
          if (!cut) return;
          expect(cut.amount).toBeLessThanOrEqual(affordable);
          for (const route of cut.routes) {
            const output = cut.outputTokensOn(route) ?? 0;
            const whole = Math.min(most ?? Number.POSITIVE_INFINITY, route.offer.outputTokensMax ?? 0);
            expect(output).toBeGreaterThanOrEqual(Math.min(16, whole));
            expect(output).toBeLessThanOrEqual(whole);
            expect(output * n).toBeLessThanOrEqual(cut.outputTokensBound);
          }
        },
      ),
    );
  });

  test('drops the routes that it cannot pay for', () => {
    const cheap = routeAt({ input: 0, cachedInput: 0, cacheWrite: 0, output: usd });
    const dear = routeAt({ input: 0, cachedInput: 0, cacheWrite: 0, output: 100 * usd });
    const bound = { inputTokens: 100, marginPpm: 0 };
    const cut = capOutputToBudget({ routes: [dear, cheap] }, asking(undefined), {
      ...bound,
      affordable: 500_000,
    });
    expect(cut?.routes).toEqual([cheap]);
    expect(cut?.outputTokensOn(cheap)).toBe(500);
    expect(
      capOutputToBudget({ routes: [dear] }, asking(undefined), { ...bound, affordable: 1_500_000 }),
    ).toBeUndefined();
    expect(
      capOutputToBudget({ routes: [dear] }, asking(undefined), { ...bound, affordable: 1_600_000 })?.amount,
    ).toBe(1_600_000);
  });
});
