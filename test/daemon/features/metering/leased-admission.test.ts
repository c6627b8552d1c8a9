import { describe, expect, test } from 'vitest';
import type { HoldTerms } from '../../../../src/daemon/features/metering/budgets.ts';
import type { Hold } from '../../../../src/daemon/features/metering/index.ts';
import type { KeyLimits, KeyPolicy } from '../../../../src/daemon/handler.ts';
import { aHold, aSettlement, morning } from '../../../storage/records.ts';
import { leaseMembers } from '../../../support/lease-members.ts';

const noLimits: KeyLimits = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
};

type Key = { -readonly [K in keyof KeyPolicy]: KeyPolicy[K] };

function aKey(keyId: string, limits: Partial<KeyLimits>, parent?: KeyPolicy): Key {
  const all = { ...noLimits, ...limits };
  return { keyId, parent, models: null, actions: null, limits: all, defaults: null, isRestricted: true };
}

/** Four members, and a clock at which they all look. */
function scene(...policies: readonly KeyPolicy[]) {
  const time = { now: morning };
  const members = leaseMembers({ count: 4, now: () => time.now, policies });
  let count = 0;
  const hold = (
    policy: KeyPolicy | undefined,
    changes: Parameters<typeof aHold>[1] = {},
    terms: Partial<HoldTerms> = {},
  ) => {
    count += 1;
    const record = aHold(`req_${count}`, {
      keyId: policy?.keyId ?? null,
      createdAt: time.now,
      amount: 1000,
      ...changes,
    });
    members.records.set(record.requestId, record);
    const admission = members.member(count);
    const held = admission.hold(record, { policy, isPrepaid: false, fit: () => undefined, ...terms });
    return held.then((call) => ({
      call,
      settle: (charged: number) =>
        admission.settle(call, aSettlement(record.requestId, { charged, completedAt: time.now })),
    }));
  };
  /** The calls that were admitted, and the errors of the others. */
  const many = async (calls: number, make: () => ReturnType<typeof hold>) => {
    const results = await Promise.allSettled(Array.from({ length: calls }, make));
    const admitted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    return { admitted, errors };
  };
  return { ...members, time, hold, many };
}

const daily = (amount: number) => ({ amount, period: 'day' }) as const;

describe('four members that admit calls of one key', () => {
  test('admit exactly 20 of 400 at the same time if its cap is for 20, and as many again on the next day', async () => {
    const key = aKey('key_1', { spendCap: daily(20_000) });
    const { many, hold, time } = scene(key);
    const { admitted, errors } = await many(400, () => hold(key));
    expect(admitted).toHaveLength(20);
    expect(errors).toHaveLength(380);
    expect(errors[0]).toMatchObject({ code: 'limit_reached', param: 'limits.spend_cap' });
    expect(errors[0].message).toContain('$0.00002 per day');
    for (const { settle } of admitted) await settle(1000);
    expect((await many(40, () => hold(key))).admitted).toHaveLength(0);
    time.now += 24 * 60 * 60_000;
    expect((await many(400, () => hold(key))).admitted).toHaveLength(20);
  });

  test('admit again what calls held and did not cost', async () => {
    const key = aKey('key_1', { spendCap: daily(20_000) });
    const { many, hold } = scene(key);
    const { admitted } = await many(400, () => hold(key));
    await Promise.all(admitted.map(({ settle }) => settle(500)));
    expect((await many(400, () => hold(key))).admitted).toHaveLength(10);
  });

  test('keep the caps of the key that issued it, too', async () => {
    const parent = aKey('key_parent', { spendCap: daily(10_000) });
    const keys = [1, 2, 3].map((index) => aKey(`key_${index}`, { spendCap: daily(5_000) }, parent));
    const { many, hold } = scene(parent, ...keys);
    const results = await Promise.all(keys.map((key) => many(100, () => hold(key))));
    const admitted = results.map((result) => result.admitted.length);
    expect(Math.max(...admitted)).toBeLessThanOrEqual(5);
    expect(admitted.reduce((sum, each) => sum + each, 0)).toBe(10);
  });

  test.each([1, 30, 300])('admit exactly %d requests in a minute', async (limit) => {
    const key = aKey('key_1', { requestsPerMinute: limit });
    const { many, hold, time } = scene(key);
    const { admitted, errors } = await many(400, () => hold(key));
    expect(admitted).toHaveLength(limit);
    expect(errors[0]).toMatchObject({ param: 'limits.requests_per_minute', retryAfterSeconds: 60 });
    time.now += 59_999;
    expect((await many(10, () => hold(key))).admitted).toHaveLength(0);
    time.now += 1;
    expect((await many(400, () => hold(key))).admitted).toHaveLength(limit);
  });

  test('spend a prepaid balance to its end, and credit that is added', async () => {
    const key = aKey('key_1', {});
    const { many, hold, addCredit } = scene(key);
    addCredit(20_500);
    const { admitted, errors } = await many(400, () => hold(key, {}, { isPrepaid: true }));
    expect(admitted).toHaveLength(20);
    expect(admitted[0]?.call.record.isPrepaid).toBe(true);
    expect(errors[0]).toMatchObject({ code: 'insufficient_balance', available: 500 });
    addCredit(2_000);
    expect((await many(10, () => hold(key, {}, { isPrepaid: true }))).admitted).toHaveLength(2);
    // While charges are being committed and limits read.
    const settled = admitted.map(({ settle }) => settle(600));
    const more = many(20, () => hold(key, {}, { isPrepaid: true }));
    addCredit(1_000);
    await Promise.all(settled);
    const { admitted: later } = await many(20, () => hold(key, {}, { isPrepaid: true }));
    // 23,500 of credit; 12,000 are charged and 2,000 held since before.
    expect((await more).admitted.length + later.length).toBe(9);
  });

  test('shorten a call only to what no member needs', async () => {
    const key = aKey('key_1', { spendCap: daily(10_000) });
    const { hold } = scene(key);
    // Leaves a rest at each member.
    for (let index = 0; index < 4; index += 1) await (await hold(key, { amount: 2_000 })).settle(500);
    const shortened = await hold(key, { amount: 9_000 }, { fit: (affordable) => affordable });
    expect(shortened.call.record.amount).toBe(8_000);
  });

  test('count calls that started before the cap was set', async () => {
    const key = aKey('key_1', {});
    const { many, hold, desk } = scene(key);
    const before = await many(8, () => hold(key));
    for (const { settle } of before.admitted.slice(0, 2)) await settle(400);
    key.limits = { ...noLimits, spendCap: daily(10_000) };
    await desk.keyChanged('key_1');
    // 800 are spent and 6,000 held.
    expect((await many(40, () => hold(key))).admitted).toHaveLength(3);
  });

  test('keep a cap that is lowered, raised and removed', async () => {
    const key = aKey('key_1', { spendCap: daily(20_000) });
    const { many, hold, desk } = scene(key);
    const set = async (limits: Partial<KeyLimits>) => {
      key.limits = { ...noLimits, ...limits };
      await desk.keyChanged('key_1');
    };
    expect((await many(4, () => hold(key))).admitted).toHaveLength(4);
    await set({ spendCap: daily(3_000) });
    expect((await many(4, () => hold(key))).admitted).toHaveLength(0);
    await set({ spendCap: daily(6_000) });
    expect((await many(4, () => hold(key))).admitted).toHaveLength(2);
    await set({});
    expect((await many(100, () => hold(key))).admitted).toHaveLength(100);
    await set({ spendCap: { amount: 108_000, period: 'total' } });
    expect((await many(40, () => hold(key))).admitted).toHaveLength(2);
  });
});

describe('budgets of four members', () => {
  const budget = {
    workspaceId: 'ws_1',
    id: 'search',
    scope: { kind: 'tag', value: 'team=search' },
    period: 'month',
    amount: 20_000,
    isHard: true,
    thresholds: [50, 100],
  } as const;
  const labels = { user: null, session: null, tags: { team: 'search' } } as never;

  test('are never exceeded, and reach each threshold once', async () => {
    const key = aKey('key_1', {});
    const { many, hold, rules, news } = scene(key);
    rules.put(budget);
    const { admitted, errors } = await many(100, () => hold(key, { labels }));
    expect(admitted).toHaveLength(20);
    expect(errors[0]).toMatchObject({ code: 'limit_reached', param: 'budgets.search' });
    expect((await many(10, () => hold(key))).admitted).toHaveLength(10);
    expect(news.filter(({ percents }) => percents.length === 0)).toHaveLength(80);
    for (const { settle } of admitted) await settle(1000);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const reached = news.flatMap(({ percents, spent }) => percents.map((percent) => ({ percent, spent })));
    expect(reached).toEqual([
      { percent: 50, spent: 10_000 },
      { percent: 100, spent: 20_000 },
    ]);
  });

  test('that only warn refuse nothing, until they become hard', async () => {
    const key = aKey('key_1', {});
    const { many, hold, rules, desk } = scene(key);
    rules.put({ ...budget, isHard: false });
    expect((await many(100, () => hold(key, { labels }))).admitted).toHaveLength(100);
    rules.put({ ...budget, amount: 103_000 });
    await desk.budgetChanged('ws_1', 'search');
    expect((await many(100, () => hold(key, { labels }))).admitted).toHaveLength(3);
    rules.remove(budget);
    await desk.budgetChanged('ws_1', 'search');
    expect((await many(100, () => hold(key, { labels }))).admitted).toHaveLength(100);
  });
});

test('a cap that is almost spent is announced once, although members spend it together', async () => {
  const key = aKey('key_1', { spendCap: daily(20_000) });
  const { many, hold, warnings } = scene(key);
  const { admitted } = await many(20, () => hold(key));
  await Promise.all(
    admitted.map(({ settle }: { call: Hold; settle: (charged: number) => Promise<number> }) => settle(900)),
  );
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toMatchObject([{ workspaceId: 'ws_1', policy: { keyId: 'key_1' }, spent: 16_200 }]);
});
