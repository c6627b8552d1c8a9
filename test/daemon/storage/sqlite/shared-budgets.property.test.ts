import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeyPolicy } from '../../../../src/daemon/base/handler.ts';
import {
  type BudgetRule,
  BudgetRules,
  type BudgetScope,
  type HeldRoute,
} from '../../../../src/daemon/features/metering/index.ts';
import type { SqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import type { ApiError } from '../../../../src/shared/errors.ts';
import {
  type SpendCalendar,
  spendPeriods,
  startOfPeriod,
} from '../../../../src/shared/money/spend-periods.ts';
import { addUsers, aKey, dayMs } from '../../../storage/records.ts';
import { type AdmittedCall, sharedMembers } from '../../../support/shared-members.ts';
import { openTemporarily } from './temporary.ts';

const { open, cleanUp } = openTemporarily();
let storage: SqliteStorage;
let runs = 0;

beforeAll(async () => {
  storage = await open();
  await addUsers(storage);
});

afterAll(cleanUp);

interface Seen {
  key: Request['key'];
  user: string;
  tag: string;
  amount: number;
  charged: number | undefined;
  /** What it holds of its routes, and the one that answered. */
  routes: readonly HeldRoute[];
  answered: Route | undefined;
  endedAt: number;
  admitted: AdmittedCall | undefined;
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

/** Calls of a workspace, by a key and one that it issued, through two members. */
class Scene {
  readonly seen: Seen[] = [];
  readonly shared = sharedMembers([storage], { count: 2 });
  readonly workspaceId: string;
  readonly #policies: Readonly<Record<Request['key'], KeyPolicy>>;
  #count = 0;

  constructor() {
    runs += 1;
    this.workspaceId = `ws_${runs}`;
    const parent = policyOf(`key_${runs}_parent`);
    this.#policies = { parent, child: policyOf(`key_${runs}_child`, parent) };
  }

  static async start(): Promise<Scene> {
    const scene = new Scene();
    const { parent, child } = scene.#policies;
    await storage.keys.insert(aKey(parent.keyId));
    await storage.keys.insert(aKey(child.keyId, { parentId: parent.keyId }));
    return scene;
  }

  get rules(): BudgetRules {
    return this.shared.rules;
  }

  get now(): number {
    return this.shared.time.now;
  }

  passed(ms: number): void {
    this.shared.time.now += ms;
  }

  ruleOf({ number, scope, ...rest }: BudgetOf): BudgetRule {
    const { kind, value } = scope;
    const isKey = kind === 'key';
    return {
      ...rest,
      scope: isKey ? { kind, value: this.#policies[value as Request['key']].keyId } : scope,
      workspaceId: this.workspaceId,
      id: `budget-${number}`,
      thresholds: [50, 80, 100],
    };
  }

  /** Undefined if a budget refuses the call. */
  async call({ key, user, tag, amount, names }: Request): Promise<Seen | undefined> {
    this.#count += 1;
    // One is dearer than the other.
    const whole = names.map((name) => ({
      ...routes[name],
      amount: name === 'a' ? amount : Math.ceil(amount / 2),
    }));
    let fitted = whole;
    const policy = this.#policies[key];
    const record = {
      requestId: `req_${runs}_${this.#count}`,
      workspaceId: this.workspaceId,
      labels: { ...noLabels, user, tags: { team: tag } },
      amount: Math.max(...whole.map((route) => route.amount)),
      routes: whole,
    };
    const admitted = await this.shared
      .hold(policy, record, {
        fit: (affordable, { leftOn = () => Number.POSITIVE_INFINITY }) => {
          const left = whole.map((route) => ({
            ...route,
            amount: Math.min(route.amount, affordable, leftOn(route)),
          }));
          fitted = left.filter((route, index) => route.amount >= (whole[index]?.amount ?? 0) / 4);
          return fitted.length === 0 ? undefined : Math.max(...fitted.map((route) => route.amount));
        },
        fittedRoutes: () => fitted,
      })
      .catch(refusals);
    if (!admitted) return undefined;
    const held = admitted.hold.record;
    const call: Seen = {
      key,
      user,
      tag,
      admitted,
      amount: held.amount,
      routes: held.routes ?? [],
      charged: undefined,
      answered: undefined,
      endedAt: 0,
    };
    this.seen.push(call);
    return call;
  }

  async settle(call: Seen, { charge, answers }: Pick<Request, 'charge' | 'answers'>): Promise<void> {
    const held = call.routes[answers % call.routes.length];
    call.answered = held?.provider === 'b' ? 'b' : 'a';
    call.charged = Math.min(charge, call.amount, held?.amount ?? 0);
    call.endedAt = this.now;
    await call.admitted?.settle(call.charged, routes[call.answered]);
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
  return value.endsWith(call.key) || (value.endsWith('parent') && call.key === 'child');
}

interface Request {
  key: 'parent' | 'child';
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
  key: fc.constantFrom('parent' as const, 'child' as const),
  user: fc.constantFrom(...users),
  tag: fc.constantFrom('a', 'b'),
  amount: fc.integer({ min: 0, max: 400 }),
  charge: fc.integer({ min: 0, max: 400 }),
  names: fc.subarray<Route>(['a', 'b'], { minLength: 1 }),
  answers: fc.nat({ max: 1 }),
});
const scope = fc.constantFrom<BudgetScope>(
  { kind: 'workspace', value: '' },
  { kind: 'key', value: 'parent' },
  { kind: 'key', value: 'child' },
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
type BudgetOf = { number: number } & Omit<BudgetRule, 'workspaceId' | 'id' | 'thresholds'>;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      calls: fc.array(request, { minLength: 1, maxLength: 10 }),
      settled: fc.array(fc.nat(), { maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ budget }) },
  fc.record({ removed: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ passed: fc.integer({ min: 1, max: 3 * dayMs }) }),
);

describe('hard budgets', () => {
  test('are never exceeded by charges and holds, however they are set while calls run and days pass', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 30 }), async (steps) => {
        const scene = await Scene.start();
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
        const ends = new Map<Seen, Request>();
        for (const each of steps) {
          if ('budget' in each) {
            const rule = scene.ruleOf(each.budget);
            scene.rules.put(rule);
            rules.set(each.budget.number, { rule, exceeds: scene.taken(rule) });
          } else if ('removed' in each) {
            scene.rules.remove({ workspaceId: scene.workspaceId, id: `budget-${each.removed}` });
            rules.delete(each.removed);
          } else if ('passed' in each) {
            scene.passed(each.passed);
          } else {
            const open = [...ends.keys()];
            const settling = each.settled.flatMap((at) => {
              const [call] = open.length === 0 ? [] : open.splice(at % open.length, 1);
              const asked = call && ends.get(call);
              if (!asked) return [];
              ends.delete(call);
              return [scene.settle(call, asked)];
            });
            const calling = each.calls.map(async (asked) => {
              const call = await scene.call(asked);
              if (call) ends.set(call, asked);
            });
            await Promise.all([...settling, ...calling]);
          }
          check();
        }
        // The rest can be spent to the last nano-dollar, so nothing was counted twice.
        const hard = [...rules.values()].map(({ rule }) => rule).filter(({ isHard }) => isHard);
        const named = { key: 'child', user: 'ann', tag: 'a' } as const;
        const unseen = { charged: undefined, answered: undefined, endedAt: 0, admitted: undefined };
        const counted: Seen = { ...named, ...unseen, amount: 0, routes: [{ ...routes.a, amount: 0 }] };
        const lefts = hard
          .filter(({ scope }) => isOf(scope, counted))
          .map((rule) => rule.amount - scene.taken(rule));
        const left = Math.min(1e9, ...lefts);
        if (left <= 0) return;
        const last = await scene.call({ ...named, amount: left, charge: 0, names: ['a'], answers: 0 });
        expect(last?.amount).toBe(left);
      }),
      { numRuns: 40 },
    );
  });

  test('hold for 400 calls at once', async () => {
    const scene = await Scene.start();
    const ofAnn = { kind: 'user', value: 'ann' } as const;
    const rule = scene.ruleOf({ number: 1, scope: ofAnn, period: 'day', amount: 2050, isHard: true });
    scene.rules.put(rule);
    const named = { key: 'child', user: 'ann', tag: 'a' } as const;
    const one: Request = { ...named, amount: 100, charge: 100, names: ['a'], answers: 0 };
    const asked = await Promise.all(Array.from({ length: 400 }, () => scene.call(one)));
    const started = asked.filter((call) => call !== undefined);
    expect(started.map(({ amount }) => amount).toSorted((a, b) => b - a)).toEqual([
      ...Array(20).fill(100),
      50,
    ]);
    await Promise.all(started.map((call) => scene.settle(call, one)));
    expect(scene.taken(rule)).toBe(2050);
    const { workspaceId, now } = scene;
    const [use] = await storage.ledger.subjectUses([{ workspaceId, ...ofAnn, calendar: undefined }], now);
    expect([use?.spend.day, use?.held]).toEqual([2050, 0]);
  });
});

test('each threshold is noticed once in each period, by the charge that reaches it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ request, passed: fc.integer({ min: 0, max: dayMs }) }), { maxLength: 40 }),
      budget,
      async (calls, settings) => {
        const scene = await Scene.start();
        const rule = { ...scene.ruleOf(settings), isHard: false };
        scene.rules.put(rule);
        const expected: string[] = [];
        for (const { request, passed } of calls) {
          scene.passed(passed);
          const period = startOfPeriod(rule.period, scene.now, rule.calendar);
          const call = await scene.call(request);
          if (call) await scene.settle(call, request);
          const spent = scene.taken(rule);
          for (const percent of rule.thresholds) {
            const name = `${period} ${percent}`;
            if (spent > 0 && spent * 100 >= rule.amount * percent && !expected.includes(name))
              expected.push(name);
          }
        }
        const noticed = scene.shared.news.flatMap(({ percents, at }) =>
          percents.map((percent) => `${startOfPeriod(rule.period, at, rule.calendar)} ${percent}`),
        );
        expect(noticed).toEqual(expected);
      },
    ),
    { numRuns: 30 },
  );
});

test('a clock that is set back gives no second budget', async () => {
  const scene = await Scene.start();
  const whole = { kind: 'workspace', value: '' } as const;
  scene.rules.put(scene.ruleOf({ number: 1, scope: whole, period: 'day', amount: 100, isHard: true }));
  const spend = async (amount: number) => {
    const named = { key: 'parent', user: 'ann', tag: 'a' } as const;
    const asked: Request = { ...named, amount, charge: amount, names: ['a'], answers: 0 };
    const call = await scene.call(asked);
    if (call) await scene.settle(call, asked);
    return call?.amount;
  };
  expect(await spend(100)).toBe(100);
  scene.passed(-2 * dayMs);
  expect(await spend(10)).toBeUndefined();
  scene.passed(3 * dayMs);
  expect(await spend(10)).toBe(10);
  expect(scene.shared.news.filter(({ percents }) => percents.length === 0)).toHaveLength(1);
});

test('a workspace without budgets does not know those of others', async () => {
  const rules = new BudgetRules();
  rules.put({
    id: 'budget-1',
    workspaceId: 'ws_1',
    scope: { kind: 'user', value: 'ann' },
    period: 'day',
    amount: 1,
    isHard: true,
    thresholds: [],
  });
  const call = { workspaceId: 'ws_2', keyId: 'key_1', labels: { user: 'ann', tags: {} } };
  expect(rules.of(call, undefined)).toEqual([]);
  expect(rules.isHard({ ...call, workspaceId: 'ws_1' }, undefined)).toBe(true);
  rules.remove({ workspaceId: 'ws_1', id: 'budget-1' });
  expect(rules.isHard({ ...call, workspaceId: 'ws_1' }, undefined)).toBe(false);
});
