import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KeyPolicy } from '../../../../src/daemon/base/handler.ts';
import {
  type BudgetNews,
  type BudgetRule,
  BudgetRules,
  type BudgetScope,
  createAdmission,
  type HeldRoute,
  type Hold,
  type LedgerStore,
} from '../../../../src/daemon/features/metering/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import type { ApiError } from '../../../../src/shared/errors.ts';
import {
  type SpendCalendar,
  type SpendPeriod,
  spendPeriods,
  startOfPeriod,
} from '../../../../src/shared/money/spend-periods.ts';
import { aHold, aSettlement, dayMs, morning } from '../../../storage/records.ts';

interface Seen {
  id: string;
  key: string;
  user: string;
  tag: string;
  amount: number;
  charged: number | undefined;
  /** What it holds of its routes, and the one that answered. */
  routes: readonly HeldRoute[];
  answered: Route | undefined;
  /** When it was charged, by the clock of the totals, which never goes back. */
  endedAt: number;
  isOnDisk: boolean;
}

type Route = keyof typeof routes;

const routes = {
  a: { model: 'm/a', provider: 'a' },
  b: { model: 'm/b', provider: 'b' },
} as const;

const policyOf = (keyId: string, parent?: KeyPolicy): KeyPolicy => ({
  keyId,
  parent,
  models: null,
  actions: null,
  limits: null,
  defaults: null,
  isRestricted: false,
});

const parent = policyOf('key_parent');
const policies = { key_parent: parent, key_child: policyOf('key_child', parent) };

/** An admission with budgets over a store that acknowledges in the scheduler's order. */
class Scene {
  readonly seen: Seen[] = [];
  readonly news: BudgetNews[] = [];
  readonly rules = new BudgetRules();
  now = morning;
  readonly admission;
  #count = 0;

  constructor(schedule: <T>(what: string, make: () => T) => Promise<T>) {
    const ledger: Pick<LedgerStore, 'keyFacts' | 'balance' | 'subjectSpend'> = {
      keyFacts: () => Promise.reject(new Error('no key has limits')),
      balance: () => Promise.reject(new Error('nothing is prepaid')),
      subjectSpend: ({ kind, value, calendar }, { at, except }) => {
        // The store reads at once, and answers later.
        const calls = this.seen.filter(
          (call) => call.isOnDisk && !except.includes(call.id) && isOf({ kind, value }, call),
        );
        const sum = (period: SpendPeriod) =>
          calls
            .filter(({ endedAt }) => endedAt >= startOfPeriod(period, at, calendar))
            .reduce((total, { charged }) => total + (charged ?? 0), 0);
        const spend = { day: sum('day'), week: sum('week'), month: sum('month'), none: sum('none') };
        return schedule('read', () => spend);
      },
    };
    this.admission = createAdmission({
      store: {
        hold: ({ requestId: id, keyId, labels, amount, routes: held = [] }) => {
          const [key, user, tag] = [keyId ?? '', labels.user ?? '', labels.tags.team ?? ''];
          const call = { id, key, user, tag, amount, routes: held, endedAt: 0, isOnDisk: false };
          this.seen.push({ ...call, charged: undefined, answered: undefined });
          return schedule('hold', () => undefined);
        },
        settle: ({ usage }) =>
          schedule('settle', () => {
            const call = this.seen.find(({ id }) => id === usage.requestId);
            if (call) call.isOnDisk = true;
            return 1;
          }),
      },
      state: () => ({ writable: true, reason: undefined }),
      limits: {
        ledger,
        clock: { now: () => this.now, elapsed: () => this.now - morning, sleep: async () => {} },
        budgets: { rules: this.rules, ledger, onNews: (news) => this.news.push(news) },
      },
    });
  }

  async call({ key, user, tag, amount, charge, names, answers }: Request) {
    this.#count += 1;
    const id = `req_${this.#count}`;
    const labels = { ...noLabels, user, tags: { team: tag } };
    // One is dearer than the other.
    const whole = names.map((name) => ({
      ...routes[name],
      amount: name === 'a' ? amount : Math.ceil(amount / 2),
    }));
    const most = Math.max(...whole.map((route) => route.amount));
    const record = aHold(id, { keyId: key, amount: most, createdAt: this.now, labels, routes: whole });
    let fitted = whole;
    const hold = await this.admission.hold(record, {
      policy: policies[key],
      isPrepaid: false,
      fit: (affordable, { leftOn = () => Number.POSITIVE_INFINITY }) => {
        const left = whole.map((route) => ({
          ...route,
          amount: Math.min(route.amount, affordable, leftOn(route)),
        }));
        fitted = left.filter((route, index) => route.amount >= (whole[index]?.amount ?? 0) / 4);
        return fitted.length === 0 ? undefined : Math.max(...fitted.map((route) => route.amount));
      },
      fittedRoutes: () => fitted,
    });
    const call = this.seen.find((seen) => seen.id === id) as Seen;
    const held = call.routes[answers % call.routes.length];
    const answered: Route = held?.provider === 'b' ? 'b' : 'a';
    return { hold, call, answered, charge: Math.min(charge, hold.record.amount, held?.amount ?? 0) };
  }

  settle({ hold, call, answered, charge }: Started): Promise<number> {
    call.charged = charge;
    call.answered = answered;
    call.endedAt = this.now;
    const usage = { ...routes[answered], charged: charge, completedAt: this.now };
    return this.admission.settle(hold, aSettlement(call.id, usage));
  }

  /** What counts against a budget now. */
  taken({ scope, period, calendar }: Pick<BudgetRule, 'scope' | 'period' | 'calendar'>): number {
    return this.seen
      .filter((call) => isOf(scope, call))
      .filter(
        ({ charged, endedAt }) =>
          charged === undefined || endedAt >= startOfPeriod(period, this.now, calendar),
      )
      .reduce((sum, call) => sum + (call.charged ?? heldBy(scope, call)), 0);
  }
}

interface Started {
  hold: Hold;
  call: Seen;
  answered: Route;
  charge: number;
}

/** The routes of a call that a scope counts: of one that has ended, the one that answered. */
function countedRoutes({ kind, value }: BudgetScope, call: Seen): readonly Omit<HeldRoute, 'amount'>[] {
  const all = call.answered === undefined ? call.routes : [routes[call.answered]];
  if (kind !== 'where')
    return all.filter((route) => value === (kind === 'model' ? route.model : route.provider));
  // The only filter is `model:m/* -model:m/b -user:ann`.
  return all.filter(({ model }) => model !== 'm/b' && call.user !== 'ann');
}

function heldBy(scope: BudgetScope, call: Seen): number {
  if (!isRouted(scope)) return call.amount;
  const counted = countedRoutes(scope, call).map(({ provider }) => provider);
  const held = call.routes.filter(({ provider }) => counted.includes(provider)).map(({ amount }) => amount);
  return Math.min(call.amount, Math.max(0, ...held));
}

function isRouted({ kind }: BudgetScope): boolean {
  return kind === 'model' || kind === 'provider' || kind === 'where';
}

function isOf(scope: BudgetScope, call: Seen): boolean {
  const { kind, value } = scope;
  if (kind === 'workspace') return true;
  if (isRouted(scope)) return countedRoutes(scope, call).length > 0;
  if (kind === 'user') return call.user === value;
  if (kind === 'tag') return `team=${call.tag}` === value;
  return call.key === value || (value === 'key_parent' && call.key === 'key_child');
}

interface Request {
  key: keyof typeof policies;
  user: string;
  tag: string;
  amount: number;
  charge: number;
  /** The routes that may answer it, and which of those that are left does. */
  names: readonly Route[];
  answers: number;
}

const refusals = (error: ApiError) => {
  expect(error.code).toBe('limit_reached');
  expect(error.param).toMatch(/^budgets\.budget-\d$/);
  return undefined;
};

const users = ['ann', 'böb 🦉'];
const request = fc.record({
  key: fc.constantFrom('key_parent' as const, 'key_child' as const),
  user: fc.constantFrom(...users),
  tag: fc.constantFrom('a', 'b'),
  amount: fc.integer({ min: 0, max: 400 }),
  charge: fc.integer({ min: 0, max: 400 }),
  names: fc.subarray<Route>(['a', 'b'], { minLength: 1 }),
  answers: fc.nat({ max: 1 }),
});
const scope = fc.constantFrom<BudgetScope>(
  { kind: 'workspace', value: '' },
  { kind: 'key', value: 'key_parent' },
  { kind: 'key', value: 'key_child' },
  { kind: 'user', value: 'ann' },
  { kind: 'user', value: 'böb 🦉' },
  { kind: 'tag', value: 'team=a' },
  { kind: 'model', value: 'm/a' },
  { kind: 'provider', value: 'b' },
  { kind: 'where', value: 'model:m/* -model:m/b -user:ann' },
);
const calendar = fc.constantFrom<SpendCalendar | undefined>(
  undefined,
  { timeZone: 'America/New_York', dayStarts: 0, weekStarts: 'sunday' },
  { timeZone: 'Asia/Kathmandu', dayStarts: 390, weekStarts: 'monday' },
);
const budget = fc.record({
  number: fc.integer({ min: 1, max: 4 }),
  scope,
  period: fc.constantFrom(...spendPeriods),
  calendar,
  amount: fc.integer({ min: 0, max: 3000 }),
  isHard: fc.boolean(),
});
const ruleOf = ({
  number,
  ...rule
}: { number: number } & Omit<BudgetRule, 'workspaceId' | 'id' | 'thresholds'>) => ({
  ...rule,
  workspaceId: 'ws_1',
  id: `budget-${number}`,
  thresholds: [50, 80, 100],
});

describe('hard budgets', () => {
  test('are never exceeded by charges and holds, however they are set while calls run and days pass', async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: request },
      { weight: 2, arbitrary: fc.record({ budget }) },
      fc.record({ removed: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ passed: fc.integer({ min: 1, max: 3 * dayMs }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(step, { minLength: 10, maxLength: 80 }),
        async (scheduler, steps) => {
          const scene = new Scene((what, make) => scheduler.schedule(Promise.resolve(), what).then(make));
          const rules = new Map<number, { rule: BudgetRule; exceeds: number }>();
          const check = () => {
            for (const known of rules.values()) {
              const taken = scene.taken(known.rule);
              // A budget that was set below what was taken must not be exceeded further.
              known.exceeds = Math.min(known.exceeds, Math.max(taken, known.rule.amount));
              if (known.rule.isHard)
                expect(taken).toBeLessThanOrEqual(Math.max(known.rule.amount, known.exceeds));
            }
          };
          const runs: Promise<void>[] = [];
          for (const each of steps) {
            if ('budget' in each) {
              const rule = ruleOf(each.budget);
              scene.rules.put(rule);
              rules.set(each.budget.number, { rule, exceeds: scene.taken(rule) });
            } else if ('removed' in each) {
              scene.rules.remove({ workspaceId: 'ws_1', id: `budget-${each.removed}` });
              rules.delete(each.removed);
            } else if ('passed' in each) {
              scene.now += each.passed;
            } else {
              runs.push(
                (async () => {
                  const started = await scene.call(each).catch(refusals);
                  check();
                  if (!started) return;
                  await scheduler.schedule(Promise.resolve(), 'runs');
                  await scene.settle(started);
                  check();
                })(),
              );
            }
            if (scheduler.count() > 0) await scheduler.waitOne();
          }
          await scheduler.waitFor(Promise.all(runs));
          check();
          // The rest can be spent to the last nano-dollar, so nothing was counted twice.
          const hard = [...rules.values()].map(({ rule }) => rule).filter(({ isHard }) => isHard);
          const named = { key: 'key_child', user: 'ann', tag: 'a' } as const;
          const last: Request = { ...named, amount: 0, charge: 0, names: ['a'], answers: 0 };
          const unseen = { id: '', charged: undefined, answered: undefined, endedAt: 0, isOnDisk: false };
          const counted: Seen = { ...named, ...unseen, amount: 0, routes: [{ ...routes.a, amount: 0 }] };
          const left = Math.min(
            1e9,
            ...hard
              .filter(({ scope }) => isOf(scope, counted))
              .map((rule) => rule.amount - scene.taken(rule)),
          );
          if (left > 0) {
            const { hold } = await scheduler.waitFor(scene.call({ ...last, amount: left }));
            expect(hold.record.amount).toBe(left);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  test('hold for 400 calls at once', async () => {
    const scene = new Scene(async (_, make) => make());
    const rule = ruleOf({
      number: 1,
      scope: { kind: 'user', value: 'ann' },
      period: 'day',
      amount: 2050,
      isHard: true,
    });
    scene.rules.put(rule);
    const ofAnn = { key: 'key_child', user: 'ann', tag: 'a' } as const;
    const one: Request = { ...ofAnn, amount: 100, charge: 100, names: ['a'], answers: 0 };
    const asked = Array.from({ length: 400 }, () => scene.call(one).catch(refusals));
    const started = (await Promise.all(asked)).filter((call) => call !== undefined);
    expect(started.map(({ hold }) => hold.record.amount)).toEqual([...Array(20).fill(100), 50]);
    await Promise.all(started.map((call) => scene.settle(call)));
    expect(scene.taken(rule)).toBe(2050);
    expect(scene.admission.budgetUse(rule)).toEqual({ spent: 2050, held: 0 });
  });
});

test('each threshold is noticed once in each period, by the charge that reaches it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ request, passed: fc.integer({ min: 0, max: dayMs }) }), { maxLength: 60 }),
      budget,
      async (calls, settings) => {
        const scene = new Scene(async (_, make) => make());
        const rule = { ...ruleOf(settings), isHard: false };
        scene.rules.put(rule);
        const expected: string[] = [];
        for (const { request, passed } of calls) {
          scene.now += passed;
          const period = startOfPeriod(rule.period, scene.now, rule.calendar);
          await scene.settle(await scene.call(request));
          const spent = scene.taken(rule);
          for (const percent of rule.thresholds) {
            const name = `${period} ${percent}`;
            if (spent > 0 && spent * 100 >= rule.amount * percent && !expected.includes(name))
              expected.push(name);
          }
        }
        const noticed = scene.news.flatMap(({ percents, at }) =>
          percents.map((percent) => `${startOfPeriod(rule.period, at, rule.calendar)} ${percent}`),
        );
        expect(noticed).toEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
});

test('a clock that is set back gives no second budget', async () => {
  const scene = new Scene(async (_, make) => make());
  scene.rules.put(
    ruleOf({ number: 1, scope: { kind: 'workspace', value: '' }, period: 'day', amount: 100, isHard: true }),
  );
  const spend = async (amount: number) => {
    const ofAnn = { key: 'key_parent', user: 'ann', tag: 'a' } as const;
    const call: Request = { ...ofAnn, amount, charge: amount, names: ['a'], answers: 0 };
    const started = await scene.call(call).catch(refusals);
    if (started) await scene.settle(started);
    return started?.hold.record.amount;
  };
  expect(await spend(100)).toBe(100);
  scene.now -= 2 * dayMs;
  expect(await spend(10)).toBeUndefined();
  scene.now += 3 * dayMs;
  expect(await spend(10)).toBe(10);
  expect(scene.news.filter(({ percents }) => percents.length === 0)).toHaveLength(1);
});

test('a workspace without budgets does not know those of others', async () => {
  const rules = new BudgetRules();
  rules.put(
    ruleOf({ number: 1, scope: { kind: 'user', value: 'ann' }, period: 'day', amount: 1, isHard: true }),
  );
  const call = { workspaceId: 'ws_2', keyId: 'key_1', labels: { user: 'ann', tags: {} } };
  expect([rules.has('ws_1'), rules.has('ws_2')]).toEqual([true, false]);
  expect(rules.of(call, undefined)).toEqual([]);
  expect(rules.isHard({ ...call, workspaceId: 'ws_1' }, undefined)).toBe(true);
  rules.remove({ workspaceId: 'ws_1', id: 'budget-1' });
  expect(rules.has('ws_1')).toBe(false);
});
