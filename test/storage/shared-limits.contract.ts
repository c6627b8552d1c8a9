import { describe, expect, test } from 'vitest';
import type { BudgetRule } from '../../src/daemon/features/metering/index.ts';
import { recoverHolds } from '../../src/daemon/features/metering/index.ts';
import { noLabels } from '../../src/shared/constants/call-labels.ts';
import { type AdmittedCall, noLimits, policyWith, sharedMembers } from '../support/shared-members.ts';
import { addUsers, aKey, dayMs, morning, type OpenStorage } from './records.ts';

const daily = (amount: number) => ({ amount, period: 'day' }) as const;
const settleAll = (calls: readonly AdmittedCall[], charged: number) =>
  Promise.all(calls.map(({ settle }) => settle(charged)));

/** Limits of calls that four members admit at the same time, or one that is alone. */
export function sharedLimitsContract(open: OpenStorage): void {
  /** `keys`: their ids, each with that of the key that issued it. */
  const scene = async (keys: Record<string, string | null> = { key_1: null }) => {
    // Which key issued another one never changes, and is remembered.
    const isOwn = Object.values(keys).some((parent) => parent !== null);
    const storage = await open({ isOwn });
    await addUsers(storage);
    for (const [id, parentId] of Object.entries(keys)) await storage.keys.insert(aKey(id, { parentId }));
    let grants = 0;
    const shared = sharedMembers([storage], { count: 4 });
    const grant = async (amount: number) => {
      grants += 1;
      await storage.ledger.grant({
        id: `grant_${grants}`,
        workspaceId: 'ws_1',
        amount,
        note: null,
        reference: null,
        grantedBy: 'usr_1',
        createdAt: morning,
      });
    };
    return { storage, grant, ...shared };
  };

  describe(`limits of calls admitted by four members`, () => {
    test('admit exactly 20 of 400 calls at a time for a cap of 20, again what was not spent, and all on the next day', async () => {
      const key = policyWith('key_1', { spendCap: daily(20_000) });
      const { many, hold, time, warnings } = await scene();
      const { admitted, errors } = await many(400, () => hold(key));
      expect(admitted).toHaveLength(20);
      expect(errors).toHaveLength(380);
      expect(errors[0]).toMatchObject({ code: 'limit_reached', param: 'limits.spend_cap' });
      expect(errors[0].message).toContain(
        '$0.00002 per day: $0 is spent and $0.00002 is reserved for running calls',
      );
      await settleAll(admitted, 500);
      const again = await many(40, () => hold(key));
      expect(again.admitted).toHaveLength(10);
      await settleAll(again.admitted, 1000);
      expect(warnings).toMatchObject([{ workspaceId: 'ws_1', policy: { keyId: 'key_1' }, spent: 16_000 }]);
      expect((await many(4, () => hold(key))).admitted).toHaveLength(0);
      time.now += dayMs;
      expect((await many(40, () => hold(key))).admitted).toHaveLength(20);
    });

    test('keep the caps of the key that issued it, and count calls of keys without limits', async () => {
      const keys = { key_p: null, key_1: 'key_p', key_2: 'key_1', key_3: 'key_p' };
      const parent = policyWith('key_p', { spendCap: daily(10_000) });
      const first = policyWith('key_1', { spendCap: daily(5_000) }, parent);
      const second = policyWith('key_2', {}, first);
      const third = policyWith('key_3', {}, parent);
      const { many, hold, storage, time } = await scene(keys);
      const results = await Promise.all([first, second, third].map((key) => many(30, () => hold(key))));
      const [own = 0, issued = 0, other = 0] = results.map(({ admitted }) => admitted.length);
      expect(own + issued).toBeLessThanOrEqual(5);
      expect(own + issued + other).toBe(10);
      await storage.keys.revoke('ws_1', 'key_2', time.now);
      await settleAll(
        results.flatMap(({ admitted }) => admitted),
        400,
      );
      // 4,000 of the parent's 10,000 are spent.
      expect((await many(30, () => hold(third))).admitted).toHaveLength(6);
    });

    test('admit exactly as many requests in a minute as a rate allows', async () => {
      const { many, hold, time, storage } = await scene({ key_1: null, key_30: null, key_300: null });
      for (const limit of [1, 30, 300]) {
        const key = policyWith(`key_${limit}`, { requestsPerMinute: limit });
        const { admitted, errors } = await many(330, () => hold(key));
        expect(admitted).toHaveLength(limit);
        expect(errors[0]).toMatchObject({ param: 'limits.requests_per_minute', retryAfterSeconds: 60 });
        const use = storage.ledger.keyUse(key.keyId, { at: time.now, since: time.now - 60_000 });
        expect(await use).toEqual({ spend: { total: 0, day: 0, week: 0, month: 0 }, requests: limit });
        await settleAll(admitted.slice(0, 20), 1);
        time.now += 59_999;
        expect((await many(10, () => hold(key))).admitted).toHaveLength(0);
        time.now += 1;
        expect((await many(limit + 1, () => hold(key))).admitted).toHaveLength(limit);
      }
    });

    test('spend a prepaid balance to its end, and credit that is added', async () => {
      const prepaid = { isPrepaid: true };
      const { many, hold, grant, members } = await scene();
      await grant(20_500);
      const { admitted, errors } = await many(100, () => hold(undefined, {}, prepaid));
      expect(admitted).toHaveLength(20);
      expect(errors[0]).toMatchObject({ code: 'insufficient_balance', available: 500 });
      await grant(2_000);
      expect((await many(10, () => hold(undefined, {}, prepaid))).admitted).toHaveLength(2);
      // Credit is added while charges are committed.
      const settled = settleAll(admitted, 600);
      const more = many(20, () => hold(undefined, {}, prepaid));
      await Promise.all([grant(1_000), settled]);
      const later = await many(20, () => hold(undefined, {}, prepaid));
      // 23,500 of credit; 12,000 are charged and 2,000 held since before.
      expect((await more).admitted.length + later.admitted.length).toBe(9);
      expect(await members[0]?.balanceOf('ws_1')).toBe(11_500);
    });

    test('shorten a call to what is left, and refuse it if that is too little', async () => {
      const key = policyWith('key_1', { spendCap: daily(10_000) });
      const { hold, many } = await scene();
      await settleAll((await many(4, () => hold(key, { amount: 2_000 }))).admitted, 500);
      const fit = (affordable: number) => (affordable >= 3_000 ? affordable - 1 : undefined);
      const shortened = await many(3, () => hold(key, { amount: 9_000 }, { fit }));
      expect(shortened.admitted.map(({ hold: { record } }) => record.amount)).toEqual([7_999]);
      expect(shortened.errors).toHaveLength(2);
    });

    test('count calls that started before their limit was set, lowered, raised and removed', async () => {
      const key = policyWith('key_1', { models: ['sim/*'] });
      const { many, hold } = await scene();
      const { admitted } = await many(8, () => hold(key));
      await settleAll(admitted.slice(0, 2), 400);
      const set = (amount: number | null) => {
        key.limits = { ...noLimits, spendCap: amount === null ? null : daily(amount) };
      };
      set(10_000);
      // 800 are spent and 6,000 held.
      expect((await many(40, () => hold(key))).admitted).toHaveLength(3);
      set(3_000);
      expect((await many(4, () => hold(key))).admitted).toHaveLength(0);
      set(12_000);
      expect((await many(4, () => hold(key))).admitted).toHaveLength(2);
      set(null);
      expect((await many(20, () => hold(key))).admitted).toHaveLength(20);
      set(33_800);
      expect((await many(4, () => hold(key))).admitted).toHaveLength(2);
    });

    test('are those of an autopilot, too, beside its key', async () => {
      const key = policyWith('key_1', { spendCap: daily(10_000) });
      const autopilot = {
        ...policyWith('ap_1', { spendCap: daily(3_000) }, key),
        isAutopilot: true as const,
      };
      const { many, hold } = await scene();
      const run = { keyId: 'key_1', budget: 'ap_1' };
      const { admitted, errors } = await many(10, () => hold(autopilot, run));
      expect(admitted).toHaveLength(3);
      expect(errors[0]).toMatchObject({ param: 'policy.modelSpendCap' });
      await settleAll(admitted, 500);
      expect((await many(10, () => hold(autopilot, run))).admitted).toHaveLength(1);
      expect((await many(10, () => hold(key))).admitted).toHaveLength(7);
    });

    test('are kept when calls of a member that died are settled', async () => {
      const key = policyWith('key_1', { spendCap: daily(20_000) });
      const { many, hold, storage, time } = await scene();
      const { admitted } = await many(30, () => hold(key, { promptCost: 100 }));
      expect(admitted).toHaveLength(20);
      const { own } = storage.daemons;
      const recover = { store: storage.metering, now: () => time.now, marginPpm: 0, daemon: own };
      expect(await recoverHolds(recover)).toBe(20);
      // 2,000 are spent on prompts.
      expect((await many(30, () => hold(key))).admitted).toHaveLength(18);
    });
  });

  describe(`budgets of calls admitted by four members`, () => {
    const budget: BudgetRule = {
      workspaceId: 'ws_1',
      id: 'search',
      scope: { kind: 'tag', value: 'team=search' },
      period: 'month',
      amount: 20_000,
      isHard: true,
      thresholds: [50, 100],
    };
    const labels = { ...noLabels, user: 'ann', tags: { team: 'search' } };
    const scopes: BudgetRule['scope'][] = [
      { kind: 'workspace', value: '' },
      { kind: 'key', value: 'key_p' },
      { kind: 'user', value: 'ann' },
      { kind: 'tag', value: 'team=search' },
    ];

    test('are never exceeded, and reach each threshold once', async () => {
      const { many, hold, rules, news, storage, time } = await scene({ key_p: null, key_1: 'key_p' });
      const key = { ...policyWith('key_1', {}, policyWith('key_p')), isRestricted: false };
      for (const scope of scopes) {
        rules.put({ ...budget, scope });
        const { admitted, errors } = await many(40, () => hold(key, { labels }));
        expect(admitted).toHaveLength(20);
        expect(errors[0]).toMatchObject({ code: 'limit_reached', param: 'budgets.search' });
        expect(news.filter(({ percents }) => percents.length === 0)).toHaveLength(20);
        const subject = { workspaceId: 'ws_1', ...scope };
        const [use] = await storage.ledger.subjectUses([subject], time.now);
        expect([use?.spend.month, use?.held]).toEqual([0, 20_000]);
        await settleAll(admitted, 1000);
        const reached = news.flatMap(({ percents, spent }) =>
          percents.map((percent) => ({ percent, spent })),
        );
        expect(reached).toEqual([
          { percent: 50, spent: 10_000 },
          { percent: 100, spent: 20_000 },
        ]);
        expect((await many(4, () => hold(key, { labels }))).admitted).toHaveLength(0);
        // The next month.
        time.now += 31 * dayMs;
        news.length = 0;
      }
    });

    test('reset by their calendar, also on the days on which clocks are changed', async () => {
      const { many, hold, rules, storage, time } = await scene();
      const calendar = { timeZone: 'Europe/Berlin', dayStarts: 6 * 60, weekStarts: 'sunday' } as const;
      const key = policyWith('key_1', { spendCap: { ...daily(12_000), calendar } });
      const daylong: BudgetRule = { ...budget, period: 'day', calendar };
      rules.put(daylong);
      // A day of 25 hours in October, and one of 23 in March.
      for (const [day, from, until] of [
        ['2026-10-25', '2026-10-24T04:00Z', '2026-10-25T05:00Z'],
        ['2027-03-28', '2027-03-27T05:00Z', '2027-03-28T04:00Z'],
      ] as const) {
        const [start, end] = [Date.parse(from), Date.parse(until)];
        expect(day).toBe(until.slice(0, 10));
        time.now = start - 1;
        await settleAll((await many(3, () => hold(key, { labels }))).admitted, 1000);
        time.now = start;
        const first = await many(20, () => hold(key, { labels }));
        expect(first.admitted).toHaveLength(12);
        await settleAll(first.admitted, 900);
        time.now = end - 1;
        const last = await many(4, () => hold(key, { labels }));
        expect(last.admitted).toHaveLength(1);
        const others = await many(20, () => hold(undefined, { labels }));
        // 10,800 are spent and 1,000 held.
        expect(others.admitted).toHaveLength(8);
        const subject = { workspaceId: 'ws_1', ...daylong.scope, calendar };
        const use = async () => (await storage.ledger.subjectUses([subject], time.now))[0];
        expect(await use()).toMatchObject({ spend: { day: 10_800 }, held: 9_000 });
        const ofKey = () => storage.ledger.keyUse('key_1', { at: time.now, since: time.now, calendar });
        expect((await ofKey()).spend.day).toBe(10_800);
        time.now = end;
        const next = await many(20, () => hold(key, { labels }));
        // Of 12,000, the last call of the day before holds 1,000.
        expect(next.admitted).toHaveLength(11);
        await settleAll([...next.admitted, ...last.admitted, ...others.admitted], 1);
        expect(await use()).toMatchObject({ spend: { day: 20 }, held: 0 });
        expect((await ofKey()).spend.day).toBe(12);
        // What is set later counts what was charged before.
        rules.remove(daylong);
        rules.put({ ...daylong, amount: 2_019 });
        const set = await many(4, () => hold(undefined, { labels }));
        expect(set.admitted).toHaveLength(1);
        await settleAll(set.admitted, 0);
        rules.put(daylong);
        time.now += 40 * dayMs;
      }
    });

    test('of models and providers are kept by the routes that are left', async () => {
      const { many, hold, rules, storage, time } = await scene();
      const [first, second] = [
        { model: 'a/large', provider: 'a' },
        { model: 'b/large', provider: 'b' },
      ] as const;
      const both = [
        { ...first, amount: 1000 },
        { ...second, amount: 600 },
      ];
      const call = () => {
        let fitted: typeof both = both;
        return hold(
          undefined,
          { routes: both },
          {
            fittedRoutes: () => fitted,
            fit(affordable, { leftOn = () => 0 }) {
              fitted = both.filter((route) => route.amount <= Math.min(affordable, leftOn(route)));
              return fitted.length === 0 ? undefined : Math.max(...fitted.map(({ amount }) => amount));
            },
          },
        );
      };
      rules.put({ ...budget, id: 'a', scope: { kind: 'provider', value: 'a' }, amount: 10_000 });
      rules.put({ ...budget, id: 'b', scope: { kind: 'model', value: 'b/large' }, amount: 12_000 });
      const { admitted, errors } = await many(400, call);
      const takes = (provider: string) =>
        admitted.filter(({ hold: { record } }) =>
          record.routes?.some((route) => route.provider === provider),
        );
      expect([takes('a').length, takes('b').length]).toEqual([10, 20]);
      expect(errors).toHaveLength(400 - admitted.length);
      for (const { code, param } of errors)
        expect([code, param]).toEqual(['limit_reached', expect.stringMatching(/^budgets\.[ab]$/)]);
      const subjects = [
        { workspaceId: 'ws_1', kind: 'provider', value: 'a' },
        { workspaceId: 'ws_1', kind: 'model', value: 'b/large' },
      ] as const;
      const uses = async () =>
        (await storage.ledger.subjectUses(subjects, time.now)).map(({ spend, held }) => [spend.month, held]);
      expect(await uses()).toEqual([
        [0, 10_000],
        [0, 12_000],
      ]);
      // Those that can take both are answered by the second one.
      const settled = admitted.map((each) => {
        const isOnFirst =
          each.hold.record.routes?.length === 1 && each.hold.record.routes[0]?.provider === 'a';
        return { each, route: isOnFirst ? first : second };
      });
      await Promise.all(settled.map(({ each, route }) => each.settle(300, route)));
      const spentOn = (provider: string) =>
        settled.filter(({ route }) => route.provider === provider).length * 300;
      expect(await uses()).toEqual([
        [spentOn('a'), 0],
        [spentOn('b'), 0],
      ]);
      const again = await many(400, call);
      const heldOf = (provider: string) =>
        again.admitted
          .flatMap(({ hold: { record } }) => record.routes ?? [])
          .filter((route) => route.provider === provider)
          .reduce((sum, { amount }) => sum + amount, 0);
      expect(heldOf('a')).toBe(Math.floor((10_000 - spentOn('a')) / 1000) * 1000);
      expect(heldOf('b')).toBe(Math.floor((12_000 - spentOn('b')) / 600) * 600);
      expect((await storage.ledger.verify()).problems).toEqual([]);
    });

    test('of calls that match a filter count those of all members, also of others than asked', async () => {
      const { many, hold, rules, storage, time } = await scene();
      const [first, second] = [
        { model: 'a/large', provider: 'a' },
        { model: 'b/large', provider: 'b' },
      ] as const;
      const scope = {
        kind: 'where',
        value: 'model:a/* -user:ann client:cli endpoint:responses',
      } as const;
      rules.put({ ...budget, scope, amount: 20_000 });
      const call = (route: typeof first | typeof second, user: string | null) => {
        const routes = [{ ...route, amount: 1000 }];
        const changes = { routes, labels: { ...labels, user, client: 'cli/2.1' } };
        return hold(undefined, changes, { fittedRoutes: () => routes });
      };
      const subject = { workspaceId: 'ws_1', ...scope };
      const use = async () => {
        const [found] = await storage.ledger.subjectUses([subject], time.now);
        return [found?.spend.month, found?.held];
      };
      const counted = await many(400, () => call(first, 'bob'));
      expect(counted.admitted).toHaveLength(20);
      expect(counted.errors[0]).toMatchObject({ param: 'budgets.search' });
      expect(counted.errors[0].message).toContain(`of the calls ${scope.value} allows`);
      const others = await many(20, (index) => (index % 2 === 0 ? call(second, 'bob') : call(first, 'ann')));
      expect(others.admitted).toHaveLength(20);
      expect(await use()).toEqual([0, 20_000]);
      await Promise.all(counted.admitted.map(({ settle }) => settle(400, first)));
      await Promise.all(
        others.admitted.map(({ settle }, index) => settle(400, index % 2 === 0 ? second : first)),
      );
      expect(await use()).toEqual([8_000, 0]);
      const again = await many(40, () => call(first, null));
      expect(again.admitted).toHaveLength(12);
      await Promise.all(again.admitted.map(({ settle }) => settle(1000, first)));
      expect(await use()).toEqual([20_000, 0]);
      time.now += 31 * dayMs;
      expect((await many(40, () => call(first, null))).admitted).toHaveLength(20);
    });

    test('of a model count calls that were running before they were set', async () => {
      const { many, hold, rules } = await scene();
      const { admitted } = await many(5, () => hold(undefined));
      rules.put({ ...budget, scope: { kind: 'model', value: 'a/large' }, amount: 7_000 });
      const routes = [{ model: 'a/large', provider: 'a', amount: 1000 }];
      const call = () => hold(undefined, { routes }, { fittedRoutes: () => routes });
      expect((await many(10, call)).admitted).toHaveLength(2);
      await Promise.all(admitted.map(({ settle }) => settle(200, { model: 'b/large', provider: 'b' })));
      expect((await many(10, call)).admitted).toHaveLength(5);
    });

    test('that only warn refuse nothing, and warn once', async () => {
      const { many, hold, rules, news } = await scene();
      rules.put({ ...budget, isHard: false });
      const { admitted } = await many(40, () => hold(undefined, { labels }));
      expect(admitted).toHaveLength(40);
      await settleAll(admitted, 400);
      expect(news).toMatchObject([{ percents: [50], spent: 10_000 }]);
      rules.put({ ...budget, amount: 19_000 });
      expect((await many(10, () => hold(undefined, { labels }))).admitted).toHaveLength(3);
    });
  });

  describe(`agents whose calls are admitted by four members`, () => {
    const terms = (agent: string, { hasMaximum = false, shortest = Number.POSITIVE_INFINITY } = {}) => ({
      isPrepaid: true,
      agent: { agentId: agent, outsideFreeTier: undefined, hasMaximum },
      fit: (affordable: number, { isWhole }: { isWhole: boolean }) =>
        !isWhole && affordable >= shortest ? affordable : undefined,
    });
    const ofAgent = (agent: string, endpoint = '/v1/responses') => ({
      keyId: agent,
      workspaceId: `ws_of_${agent}`,
      endpoint,
    });

    test('have their free requests, budget and shared pool once', async () => {
      const { many, hold, members, time } = await scene();
      const call = (agent: string, amount: number) =>
        many(60, () => hold(undefined, { ...ofAgent(agent), amount }, terms(agent)));
      const first = await call('agt_1', 100);
      expect(first.admitted).toHaveLength(20);
      expect(first.errors[0]).toMatchObject({ code: 'agent_free_requests_used' });
      expect(first.admitted[0]?.hold.record).toMatchObject({ amount: 0, free: 100 });
      await settleAll(first.admitted, 50);
      expect(await members.at(-1)?.agentUse('agt_1')).toMatchObject({
        freeRequests: 20,
        freeCost: 1000,
        others: 20,
      });
      const second = await call('agt_2', 600);
      expect(second.admitted).toHaveLength(8);
      expect(second.errors[0]).toMatchObject({ code: 'agent_free_budget_used' });
      const third = await call('agt_3', 600);
      // Of 12,000, 1,000 are spent and 9,600 held.
      expect((await call('agt_4', 600)).admitted.length + third.admitted.length).toBe(10);
      const refused = await call('agt_5', 700);
      expect(refused.errors[0]).toMatchObject({ code: 'agent_free_tier_full' });
      time.now += dayMs;
      expect((await call('agt_1', 600)).admitted).toHaveLength(8);
    });

    test('get shorter answers for the rest of the free tier, and decisions to a daily limit', async () => {
      const { many, hold } = await scene();
      const shortened = await many(3, () =>
        hold(undefined, { ...ofAgent('agt_1'), amount: 3_000 }, terms('agt_1', { shortest: 500 })),
      );
      expect(shortened.admitted.map(({ hold: { record } }) => record.free).sort()).toEqual([2_000, 3_000]);
      expect(shortened.errors).toMatchObject([{ code: 'agent_free_budget_used' }]);
      const decisions = await many(30, () =>
        hold(undefined, { ...ofAgent('agt_1', '/v1/decisions'), amount: 0 }, terms('agt_1')),
      );
      expect(decisions.admitted).toHaveLength(20);
      expect(decisions.errors[0]).toMatchObject({ code: 'agent_daily_limit' });
    });

    test('pay from their credit for what is not free', async () => {
      const { many, hold, storage } = await scene();
      await storage.agents.signUp({
        agent: {
          id: 'agt_1',
          workspaceId: 'ws_of_agt_1',
          name: 'one',
          digest: 'digest of agt_1',
          hint: 'gwa_…',
          createdAt: morning,
        },
        slug: 'agt-1',
        challenge: { text: 'once', expiresAt: morning },
        day: '2026-11-21',
        origins: [],
      });
      await storage.ledger.grant({
        id: 'grant_1',
        workspaceId: 'ws_of_agt_1',
        amount: 9_500,
        note: null,
        reference: null,
        grantedBy: 'usr_1',
        createdAt: morning,
      });
      const { admitted, errors } = await many(30, () =>
        hold(undefined, { ...ofAgent('agt_1'), amount: 1_000 }, terms('agt_1', { hasMaximum: true })),
      );
      const isFree = ({ hold: { record } }: AdmittedCall) => record.free !== undefined;
      expect(admitted.filter(isFree)).toHaveLength(5);
      expect(admitted.filter((call) => !isFree(call))).toHaveLength(9);
      expect(errors[0]).toMatchObject({ code: 'agent_balance_too_low', available: 500 });
      await settleAll(admitted, 1_000);
      expect(await storage.ledger.balance('ws_of_agt_1')).toBe(500);
    });
  });
}
