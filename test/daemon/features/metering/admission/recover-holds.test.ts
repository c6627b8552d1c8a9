import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LeftHold, Settlement } from '../../../../../src/daemon/features/metering/index.ts';
import { recoverHolds, settledEvent } from '../../../../../src/daemon/features/metering/index.ts';
import { costOf, costWithin } from '../../../../../src/shared/money/money.ts';
import { aHold, morning, tokens } from '../../../../storage/records.ts';

async function recovered(
  hold: Partial<LeftHold>,
  { marginPpm = 0, now = morning + 5_000 } = {},
): Promise<Settlement> {
  const settled: Settlement[] = [];
  const left: LeftHold = {
    ...aHold('req_1'),
    progressTokens: null,
    progressCost: null,
    provider: null,
    ...hold,
  };
  const store = {
    leftHolds: async () => [left],
    settle: async (settlement: Settlement) => settled.push(settlement),
  };
  expect(await recoverHolds({ store, now: () => now, marginPpm, daemon: 1 })).toBe(1);
  return settled[0] as Settlement;
}

describe('a call interrupted by the death of a daemon', () => {
  test('pays its provider and the margin separately', async () => {
    const progress = { progressTokens: tokens, progressCost: 1_200, provider: 'openai' };
    const { usage, entries } = await recovered(progress, { marginPpm: 200_000 });
    expect(usage).toMatchObject({
      status: 'interrupted',
      tokens,
      cost: { provider: 1_000, margin: 200, total: 1_200 },
      charged: 1_200,
    });
    expect(entries).toEqual([
      { kind: 'provider_cost', debit: 'workspace:ws_1', credit: 'provider:openai', amount: 1_000 },
      { kind: 'margin', debit: 'workspace:ws_1', credit: 'margin', amount: 200 },
    ]);
  });

  test('pays for its prompt if nothing else is known, never more than its hold', async () => {
    expect((await recovered({ promptCost: 300 })).usage).toMatchObject({ charged: 300 });
    const { usage, entries } = await recovered({ progressCost: 9_000, amount: 5_000 });
    expect(usage).toMatchObject({ cost: { total: 9_000 }, charged: 5_000 });
    expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(5_000);
  });

  test('pays nothing with the workspace’s own key', async () => {
    const { usage, entries } = await recovered({ progressCost: 900, ownKey: true });
    expect({ charged: usage.charged, entries }).toEqual({ charged: 0, entries: [] });
  });

  test.each([
    ['free', { amount: 0 }],
    ['paid', { amount: 5_000, promptCost: 0 }],
  ])('of an agent was %s if it held no money, else not', async (tier, hold) => {
    expect(await recovered({ keyId: 'agt_1', ...hold })).toMatchObject({ caller: 'agent', tier });
  });

  test('is reported by the same event as any other finished call', async () => {
    const { usage } = await recovered({
      progressCost: 900,
      progressTokens: tokens,
      provider: 'openai',
    });
    expect(settledEvent(usage)).toMatchObject({
      type: 'request.failed',
      data: { status: 'interrupted', error_code: 'server_error', cost_usd: '0.0000009', attempts: 0 },
    });
  });

  test('has no negative duration, even if the clock was set back', async () => {
    expect((await recovered({}, { now: morning - 60_000 })).usage.totalMs).toBe(0);
  });
});

test('a total is split exactly as it was added up', () => {
  const price = fc.nat({ max: 100_000_000_000 });
  fc.assert(
    fc.property(price, fc.nat({ max: 1_000_000 }), fc.nat({ max: 500_000 }), (output, count, marginPpm) => {
      const prices = { input: 0, cachedInput: 0, cacheWrite: 0, output };
      const cost = costOf(prices, { ...tokens, output: count }, marginPpm);
      const split = costWithin(cost.total, marginPpm);
      expect(split.provider + split.margin).toBe(cost.total);
      expect(Math.abs(split.provider - cost.provider)).toBeLessThanOrEqual(1);
    }),
  );
});
