import type { AnsweringRoute } from '../../../../shared/calls/budget-filter.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import { isSameCalendar, type SpendCalendar } from '../../../../shared/money/spend-periods.ts';
import type { KeyPolicy, SpendCap } from '../../../base/handler.ts';
import type { World } from '../../../base/world.ts';
import type { LedgerStore } from '../ledger-store.ts';
import type { BudgetRule } from '../rules/budget-rule.ts';
import { heldOnRoutes, isOnRoute, isRouted, leftOnRoutes } from '../rules/held-routes.ts';
import {
  affordableOn,
  affordableUnder,
  decisiveLeft,
  exceededRate,
  type Left,
  type LimitedKey,
} from '../rules/limit-rules.ts';
import { rateWindowMs } from '../rules/rate-window.ts';
import { BalanceTotals, KeyTotals } from '../rules/running-totals.ts';
import { SubjectTotals } from '../rules/subject-totals.ts';
import type { HeldRoute, HoldRecord, Spend } from '../store.ts';
import type { AgentTerms } from './agent-allowances.ts';
import { BudgetRules, type BudgetSubject } from './budget-rules.ts';
import { type Fit, fitWithin } from './fit.ts';
import type { Refused } from './hold-queue.ts';
import { type CapWarning, rateReached } from './limit-errors.ts';
import { refusalOf } from './refusal-of.ts';
import { capMarkReached, marksReached } from './thresholds.ts';

const noneRouted: OpenCall['routed'] = [];

/** The conditions of a hold. */
export interface HoldTerms {
  /** The calling key's policy; undefined for a login. */
  policy: KeyPolicy | undefined;
  /** Whether the workspace pays in advance. */
  isPrepaid: boolean;
  /** Set for the call of an agent. */
  agent?: AgentTerms | undefined;
  fit: Fit;
  /** The routes that remain since `fit` was called last; set for a record with routes. */
  fittedRoutes?: () => readonly HeldRoute[];
}

/** A started call whose settlement is not on disk. */
export interface OpenCall {
  record: HoldRecord;
  policy: KeyPolicy | undefined;
  isRunning: boolean;
  /** Set once it is settled. */
  charged: Charge | undefined;
  /** The subjects of budgets that count it, as far as their totals are loaded. */
  subjects: readonly BudgetSubject[];
  /** The same of models and providers, with what it holds of each. */
  routed: readonly RoutedSubject[];
}

/** What a call was charged, and what answered it. */
export interface Charge extends AnsweringRoute {
  amount: NanoUsd;
  at: number;
}

interface RoutedSubject {
  subject: BudgetSubject;
  held: NanoUsd;
}

/** A hold within the budgets of its routes. */
type HeldOnRoutes = Required<Pick<HoldRecord, 'amount' | 'routes'>>;

/** The usage of a key and its descendants. */
export interface KeyUse {
  /** In UTC. */
  spend: Spend;
  /** In the period of the cap. */
  ofCap: NanoUsd | undefined;
  requestsLastMinute: number;
}

/** A budget that reached thresholds, or refused a call. */
export interface BudgetNews {
  rule: BudgetRule;
  /** What is spent in its current period. */
  spent: NanoUsd;
  at: number;
  /** The thresholds that were reached; none if it refused a call. */
  percents: readonly number[];
}

export interface BudgetsDeps {
  ledger: Pick<LedgerStore, 'keyFacts' | 'balance'>;
  clock: Pick<World, 'now' | 'elapsed' | 'sleep'>;
  /** Every call whose settlement is not on disk. */
  open: Iterable<OpenCall>;
  /** Called once in each period, with the charge that reaches 80 % of a cap. */
  onCapWarning?: (warning: CapWarning) => void;
  /** Enables budgets. */
  budgets?: {
    rules: BudgetRules;
    ledger: Pick<LedgerStore, 'subjectSpend'>;
    /** Called with the charge that reaches a threshold, and with each call that a budget refuses. */
    onNews?: (news: BudgetNews) => void;
  };
}

/**
 * The spending, balances and rates that calls share, in memory. Totals are loaded when a limit first needs them: from the
 * stored facts without the open calls, plus those. From then on every hold and charge updates them.
 */
export class Budgets {
  readonly #deps: BudgetsDeps;
  readonly #rules: BudgetRules;
  readonly #keys = new Map<string, KeyTotals>();
  readonly #balances = new Map<string, BalanceTotals>();

  constructor(deps: BudgetsDeps) {
    this.#deps = deps;
    this.#rules = deps.budgets?.rules ?? new BudgetRules();
  }

  /** Whether budgets count calls of a workspace. */
  isBudgeted(workspaceId: string): boolean {
    return this.#rules.has(workspaceId);
  }

  /** The subjects of budgets that count a call, of which the totals are loaded. */
  subjectsOf(record: HoldRecord, policy: KeyPolicy | undefined): readonly BudgetSubject[] {
    const subjects = this.#rules.of(record, policy);
    return subjects.every(({ totals }) => totals) ? subjects : subjects.filter(({ totals }) => totals);
  }

  /** What a budget's calls spent in its period and hold; undefined if no call asked for it since the start. */
  useOf(rule: BudgetRule): { spent: NanoUsd; held: NanoUsd } | undefined {
    const totals = this.#rules.subject(rule)?.totals;
    if (!totals || totals.loading) return undefined;
    return { spent: totals.spentIn(rule.period, this.#deps.clock.now()), held: totals.held };
  }

  /**
   * Loads the totals that these terms need; undefined if all are loaded, and `admit` may follow. To be asked again
   * afterwards, as limits and budgets may change meanwhile.
   */
  loading({ policy, isPrepaid }: HoldTerms, record: HoldRecord): Promise<unknown> | undefined {
    const { workspaceId } = record;
    const waits: Promise<void>[] = [];
    for (let key = policy; key; key = key.parent) {
      if (!key.limits?.spendCap && !key.limits?.requestsPerMinute) continue;
      const { loading } = this.#loadedKey(key.keyId, key.limits.spendCap?.calendar);
      if (loading) waits.push(loading);
    }
    if (isPrepaid) {
      const { loading } = this.#balances.get(workspaceId) ?? this.#loadBalance(workspaceId);
      if (loading) waits.push(loading);
    }
    const load = (subject: BudgetSubject) => {
      const { loading } = subject.totals ?? this.#loadSubject(subject);
      if (loading) waits.push(loading);
    };
    this.#rules.of(record, policy).forEach(load);
    if (record.routes) for (const subject of this.#subjectsOn(record, record.routes)) load(subject);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  /** The subjects of budgets of models and providers of which a call holds something, if their totals are loaded. */
  routedOf(record: HoldRecord): readonly RoutedSubject[] {
    const { workspaceId, routes } = record;
    if (!this.#rules.hasRouted(workspaceId)) return noneRouted;
    // The first budget may have been set while the call waited.
    const subjects = routes ? this.#subjectsOn(record, routes) : this.#rules.routed(workspaceId);
    return subjects
      .filter(({ totals }) => totals)
      .map((subject) => ({ subject, held: heldOnRoutes(record, subject.scope) }));
  }

  #subjectsOn(call: HoldRecord, routes: readonly HeldRoute[]): BudgetSubject[] {
    return [...new Set(routes.flatMap((route) => this.#rules.ofRoute(call, route)))];
  }

  /**
   * Returns the amount that a call may hold, with the routes that are left where budgets count it by its route, or why it may not start: `limit_reached` or
   * `insufficient_balance`. Fails if it exceeds a rate. `held` must follow synchronously.
   */
  admit(record: HoldRecord, terms: HoldTerms): NanoUsd | HeldOnRoutes | Refused {
    const { workspaceId, amount } = record;
    const { policy } = terms;
    const now = this.#deps.clock.now();
    const rate = exceededRate(policy, this.#windowOf, this.#deps.clock.elapsed());
    if (rate) throw rateReached(rate.limit, rate.waitMs);
    const budgets = this.#rules.of(record, policy);
    const balance = terms.isPrepaid ? this.#balances.get(workspaceId) : undefined;
    const counted = { key: policy, totalsOf: this.#totalsOfKey, budgets, balance };
    const common = affordableUnder(counted, now);
    if (record.routes && this.#rules.hasRouted(workspaceId))
      return this.#admitOnRoutes({ ...record, routes: record.routes }, terms, { common, budgets, now });
    const { affordable, shortage } = common;
    if (amount <= affordable) return amount;
    const output = { isWhole: terms.agent?.hasMaximum === true };
    const fitting = fitWithin(terms.fit, affordable, output);
    if (fitting !== undefined) return fitting;
    const left = { affordable, shortage, output };
    return refusalOf(left, {
      policy,
      budgets,
      now,
      amount,
      fit: terms.fit,
      onNews: this.#deps.budgets?.onNews,
    });
  }

  /** Leaves out the routes whose budgets are used up, as long as there is another. */
  #admitOnRoutes(
    record: HoldRecord & HeldOnRoutes,
    { policy, agent, fit, fittedRoutes }: HoldTerms,
    { common, budgets, now }: { common: Left; budgets: readonly BudgetSubject[]; now: number },
  ): HeldOnRoutes | Refused {
    const { amount, routes } = record;
    const subjects = routes.map((route) => this.#rules.ofRoute(record, route));
    const lefts = subjects.map((ofRoute) => affordableOn(ofRoute, now));
    const fits = routes.every((route, index) => route.amount <= (lefts[index]?.affordable ?? 0));
    if (fits && amount <= common.affordable) return { amount, routes };
    const isWhole = agent?.hasMaximum === true;
    const leftOn = leftOnRoutes(
      routes,
      lefts.map(({ affordable }) => affordable),
    );
    const fitting = fitWithin(fit, common.affordable, { isWhole, leftOn });
    if (fitting !== undefined) return { amount: fitting, routes: fittedRoutes?.() ?? routes };
    const unheld = lefts.map(({ affordable, shortage }) => affordable + (shortage?.held ?? 0));
    const output = { isWhole, leftOn: leftOnRoutes(routes, unheld) };
    return refusalOf(
      { ...decisiveLeft(common, lefts), output },
      {
        policy,
        budgets: [...budgets, ...subjects.flat()],
        now,
        amount,
        fit,
        onNews: this.#deps.budgets?.onNews,
      },
    );
  }

  /** The remaining balance of a prepaid workspace, once it is loaded. */
  availableTo(workspaceId: string): NanoUsd {
    return this.#balances.get(workspaceId)?.available() ?? 0;
  }

  /** Adds a started call. */
  held({ record, policy, subjects, routed }: OpenCall): void {
    for (const { totals } of subjects) if (totals) totals.held += record.amount;
    for (const { subject, held } of routed) if (subject.totals) subject.totals.held += held;
    if (this.#keys.size > 0) {
      const at = this.#deps.clock.elapsed();
      for (const totals of this.#totalsOf(record, policy)) {
        totals.held += record.amount;
        totals.accepted.add(at);
      }
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.held += record.amount;
  }

  /** Releases the hold of a call that ended. */
  released({ record, policy, subjects, routed }: OpenCall): void {
    for (const { totals } of subjects) if (totals) totals.held -= record.amount;
    for (const { subject, held } of routed) if (subject.totals) subject.totals.held -= held;
    if (this.#keys.size > 0) {
      for (const totals of this.#totalsOf(record, policy)) totals.held -= record.amount;
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.held -= record.amount;
  }

  charged({ record, policy, subjects }: OpenCall, charge: Charge): void {
    const { amount, at } = charge;
    if (amount === 0) return;
    for (const subject of subjects) this.#chargeSubject(subject, amount, at);
    if (this.#rules.hasRouted(record.workspaceId)) {
      for (const subject of this.#rules.ofRoute(record, charge)) this.#chargeSubject(subject, amount, at);
    }
    if (this.#keys.size > 0) {
      for (const totals of this.#totalsOf(record, policy)) totals.charge(amount, at);
      this.#warn(record.workspaceId, policy, { amount, at });
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.balance -= amount;
  }

  /** The balance of a workspace, including what is held. */
  async balanceOf(workspaceId: string): Promise<NanoUsd> {
    const totals = this.#balances.get(workspaceId) ?? this.#loadBalance(workspaceId);
    await totals.loading;
    return totals.balance;
  }

  /** Adds credit that is on disk, if the balance was loaded before. */
  credited(workspaceId: string, amount: NanoUsd): void {
    const totals = this.#balances.get(workspaceId);
    if (totals) totals.balance += amount;
  }

  /** The usage of a key and its descendants; running calls are not charged yet. */
  async usedBy(keyId: string, cap?: SpendCap | null): Promise<KeyUse> {
    const { clock, ledger, open } = this.#deps;
    const at = clock.now();
    const since = at - rateWindowMs;
    const calls = [...open].filter((call) => isOf(call, keyId));
    const except = calls.map(({ record }) => record.requestId);
    const { spend, recent } = await ledger.keyFacts(keyId, { at, since, except });
    const settling = calls.reduce((sum, { charged }) => sum + (charged?.amount ?? 0), 0);
    const inCap = cap?.calendar
      ? (await ledger.keyFacts(keyId, { at, since, except, calendar: cap.calendar })).spend
      : spend;
    return {
      spend: {
        total: spend.total + settling,
        day: spend.day + settling,
        week: spend.week + settling,
        month: spend.month + settling,
      },
      ofCap: cap ? inCap[cap.period] + settling : undefined,
      requestsLastMinute: recent.length + calls.filter(({ record }) => record.createdAt > since).length,
    };
  }

  #chargeSubject({ rules, totals }: BudgetSubject, amount: NanoUsd, at: number): void {
    if (!totals) return;
    totals.charge(amount, at);
    for (const rule of rules) {
      const spent = totals.spentIn(rule.period, at);
      const percents = marksReached(rule, { spent, amount });
      if (percents.length > 0) this.#deps.budgets?.onNews?.({ rule, spent, at, percents });
    }
  }

  #warn(workspaceId: string, policy: KeyPolicy | undefined, charge: { amount: NanoUsd; at: number }): void {
    const { amount, at } = charge;
    for (let key = policy; key; key = key.parent) {
      const cap = key.limits?.spendCap;
      const totals = cap && this.#keys.get(key.keyId);
      if (!totals) continue;
      const spent = totals.spentOf(cap, at);
      if (!capMarkReached(cap, { spent, amount })) continue;
      this.#deps.onCapWarning?.({ workspaceId, policy: key, cap, spent, at });
    }
  }

  readonly #totalsOfKey = ({ keyId }: LimitedKey): KeyTotals | undefined => this.#keys.get(keyId);
  readonly #windowOf = (keyId: string) => this.#keys.get(keyId)?.accepted;

  *#totalsOf({ keyId }: HoldRecord, policy: KeyPolicy | undefined): Generator<KeyTotals> {
    const own = policy === undefined && keyId !== null ? this.#keys.get(keyId) : undefined;
    if (own) yield own;
    for (let key = policy; key; key = key.parent) {
      const totals = this.#keys.get(key.keyId);
      if (totals) yield totals;
    }
  }

  /** Loads the totals of a key again if its cap has another calendar now. */
  #loadedKey(keyId: string, calendar: SpendCalendar | undefined): KeyTotals {
    const known = this.#keys.get(keyId);
    return known && isSameCalendar(known.calendar, calendar) ? known : this.#loadKey(keyId, calendar);
  }

  #loadKey(keyId: string, calendar: SpendCalendar | undefined): KeyTotals {
    const { clock, ledger, open } = this.#deps;
    const [at, elapsed] = [clock.now(), clock.elapsed()];
    const totals = new KeyTotals(calendar);
    this.#keys.set(keyId, totals);
    const except: string[] = [];
    const charges: Charge[] = [];
    for (const call of open) {
      if (!isOf(call, keyId)) continue;
      except.push(call.record.requestId);
      if (call.isRunning) totals.held += call.record.amount;
      if (call.charged) charges.push(call.charged);
      const ago = Math.max(0, at - call.record.createdAt);
      if (ago < rateWindowMs) totals.accepted.add(elapsed - ago);
    }
    chargeInOrder(totals, charges);
    totals.loading = ledger.keyFacts(keyId, { at, since: at - rateWindowMs, except, calendar }).then(
      (facts) => {
        totals.addSpend(facts.spend, at);
        totals.accepted.addEarlier(facts.recent.map((time) => elapsed - Math.max(0, at - time)));
        totals.loading = undefined;
      },
      (cause) => {
        if (this.#keys.get(keyId) === totals) this.#keys.delete(keyId);
        throw new ApiError('unavailable', { cause });
      },
    );
    totals.loading.catch(() => {});
    return totals;
  }

  #loadSubject(subject: BudgetSubject): SubjectTotals {
    const { clock, budgets, open } = this.#deps;
    if (!budgets) throw new TypeError('there are no budgets');
    const at = clock.now();
    const totals = new SubjectTotals(subject.calendar);
    subject.totals = totals;
    const except: string[] = [];
    const charges: Charge[] = [];
    for (const call of open) {
      const { record, charged } = call;
      if (isRouted(subject.scope)) {
        if (record.workspaceId !== subject.workspaceId) continue;
        const held = heldOnRoutes(record, subject.scope);
        if (held > 0) call.routed = [...call.routed, { subject, held }];
        if (call.isRunning) totals.held += held;
        // Each of the others may be charged for it, and is on disk then.
        except.push(record.requestId);
        if (charged && isOnRoute(subject.scope, charged, record)) charges.push(charged);
        continue;
      }
      if (!this.#rules.of(record, call.policy).includes(subject)) continue;
      call.subjects = [...call.subjects, subject];
      except.push(record.requestId);
      if (call.isRunning) totals.held += record.amount;
      if (charged) charges.push(charged);
    }
    chargeInOrder(totals, charges);
    const { workspaceId, scope, calendar } = subject;
    totals.loading = budgets.ledger.subjectSpend({ workspaceId, ...scope, calendar }, { at, except }).then(
      (spend) => {
        totals.add(spend, at);
        totals.loading = undefined;
      },
      (cause) => {
        subject.totals = undefined;
        for (const call of open) {
          call.subjects = call.subjects.filter((each) => each !== subject);
          call.routed = call.routed.filter((each) => each.subject !== subject);
        }
        throw new ApiError('unavailable', { cause });
      },
    );
    totals.loading.catch(() => {});
    return totals;
  }

  #loadBalance(workspaceId: string): BalanceTotals {
    const totals = new BalanceTotals();
    this.#balances.set(workspaceId, totals);
    const except: string[] = [];
    for (const { record, isRunning, charged } of this.#deps.open) {
      if (record.workspaceId !== workspaceId) continue;
      except.push(record.requestId);
      if (isRunning) totals.held += record.amount;
      if (charged) totals.balance -= charged.amount;
    }
    totals.loading = this.#deps.ledger.balance(workspaceId, { except }).then(
      (balance) => {
        totals.balance += balance;
        totals.loading = undefined;
      },
      (cause) => {
        this.#balances.delete(workspaceId);
        throw new ApiError('unavailable', { cause });
      },
    );
    totals.loading.catch(() => {});
    return totals;
  }
}

/** Totals go from period to period: what was charged yesterday and is not on disk yet is not spent today. */
function chargeInOrder(totals: SubjectTotals, charges: Charge[]): void {
  for (const { amount, at } of charges.sort((a, b) => a.at - b.at)) totals.charge(amount, at);
}

/** Whether a key, or one that descends from it, made the call. */
export function isOf({ record, policy }: OpenCall, keyId: string): boolean {
  if (record.keyId === keyId) return true;
  for (let key = policy; key; key = key.parent) if (key.keyId === keyId) return true;
  return false;
}
