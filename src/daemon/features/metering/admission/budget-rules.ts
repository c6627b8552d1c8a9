import type { AdmittedCall, AnsweringRoute } from '../../../../shared/calls/budget-filter.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import { isSameCalendar, type SpendCalendar } from '../../../../shared/money/spend-periods.ts';
import type { KeyPolicy } from '../../../base/handler.ts';
import type { BudgetRule, BudgetScope } from '../rules/budget-rule.ts';
import { isOnRoute, isRouted } from '../rules/held-routes.ts';

/** The calls that budgets of one scope and calendar count. */
export interface BudgetSubject {
  readonly workspaceId: string;
  readonly scope: BudgetScope;
  readonly calendar: SpendCalendar | undefined;
  rules: readonly BudgetRule[];
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

/** What a call states of itself that budgets look at. */
export interface BudgetedCall {
  workspaceId: string;
  keyId: string | null;
  labels: AdmittedCall['labels'];
  endpoint?: string;
}

const none: readonly BudgetSubject[] = [];

interface WorkspaceBudgets {
  /** By kind and value: one of each calendar. */
  readonly subjects: Map<string, BudgetSubject[]>;
  /** The budgets that count a call by the route that answers it, and how many of them are hard. */
  routed: number;
  hardRouted: number;
  /** Those that count calls by a filter. */
  filtered: readonly BudgetSubject[];
}

/** The budgets of all workspaces, found by the calls that they count. */
export class BudgetRules {
  readonly #workspaces = new Map<string, WorkspaceBudgets>();

  /** Whether a workspace has a budget that looks at the routes of calls. */
  hasRouted(workspaceId: string): boolean {
    return this.#workspaces.size > 0 && (this.#workspaces.get(workspaceId)?.routed ?? 0) > 0;
  }

  /** Adds a budget, or replaces the one with its id. */
  put(rule: BudgetRule): void {
    const { workspaceId, scope, calendar } = rule;
    const before = this.#find(rule);
    if (before && !isOf(before, rule)) this.remove(rule);
    const budgets: WorkspaceBudgets = this.#workspaces.get(workspaceId) ?? {
      subjects: new Map(),
      routed: 0,
      hardRouted: 0,
      filtered: none,
    };
    this.#workspaces.set(workspaceId, budgets);
    const name = nameOf(scope.kind, scope.value);
    const alike = budgets.subjects.get(name) ?? [];
    let subject = alike.find((each) => isOf(each, rule));
    if (!subject) {
      subject = { workspaceId, scope, calendar, rules: [] };
      budgets.subjects.set(name, [...alike, subject]);
    }
    subject.rules = [...subject.rules.filter(({ id }) => id !== rule.id), rule];
    countRouted(budgets);
  }

  remove({ workspaceId, id }: Pick<BudgetRule, 'workspaceId' | 'id'>): void {
    const subject = this.#find({ workspaceId, id });
    const budgets = this.#workspaces.get(workspaceId);
    if (!subject || !budgets) return;
    const { subjects } = budgets;
    subject.rules = subject.rules.filter((rule) => rule.id !== id);
    if (subject.rules.length === 0) {
      const name = nameOf(subject.scope.kind, subject.scope.value);
      const others = (subjects.get(name) ?? none).filter((each) => each !== subject);
      if (others.length > 0) subjects.set(name, others);
      else subjects.delete(name);
    }
    if (subjects.size === 0) this.#workspaces.delete(workspaceId);
    countRouted(budgets);
  }

  /** A budget by its id. */
  rule(workspaceId: string, id: string): BudgetRule | undefined {
    return this.#find({ workspaceId, id })?.rules.find((rule) => rule.id === id);
  }

  /**
   * The subjects of which a call is part whoever answers it: of its workspace, of its key and those that it descends from, its
   * user and tags.
   */
  of(call: BudgetedCall, policy: KeyPolicy | undefined): readonly BudgetSubject[] {
    if (this.#workspaces.size === 0) return none;
    const subjects = this.#workspaces.get(call.workspaceId)?.subjects;
    if (!subjects) return none;
    const found: BudgetSubject[] = [];
    const add = (kind: BudgetScope['kind'], value: string) => {
      const alike = subjects.get(nameOf(kind, value));
      if (alike) found.push(...alike);
    };
    add('workspace', '');
    if (policy === undefined && call.keyId !== null) add('key', call.keyId);
    for (let key = policy; key; key = key.parent) add('key', key.keyId);
    const { user, tags } = call.labels;
    if (user !== null) add('user', user);
    for (const name in tags) add('tag', `${name}=${tags[name]}`);
    return found;
  }

  /** The subjects of which a call is part if a route answers it: of its model and its provider, and by filters. */
  ofRoute(call: BudgetedCall, route: AnsweringRoute): readonly BudgetSubject[] {
    const budgets = this.#workspaces.get(call.workspaceId);
    if (!budgets) return none;
    const { subjects, filtered } = budgets;
    const { model, provider } = route;
    const ofModel = subjects.get(nameOf('model', model)) ?? none;
    const ofProvider = (provider !== null && subjects.get(nameOf('provider', provider))) || none;
    const matching = filtered.filter(({ scope }) => isOnRoute(scope, route, call));
    return [...ofModel, ...ofProvider, ...matching];
  }

  /** Whether a budget could reject a call, whatever its route. */
  isHard(call: BudgetedCall, policy: KeyPolicy | undefined): boolean {
    return this.of(call, policy).some(hasHard);
  }

  /** Whether a budget could keep a call from a route; undefined without hard budgets that look at routes. */
  hardRoutes(call: BudgetedCall): ((route: AnsweringRoute) => boolean) | undefined {
    if (this.#workspaces.size === 0 || !this.#workspaces.get(call.workspaceId)?.hardRouted) return undefined;
    return (route) => this.ofRoute(call, route).some(hasHard);
  }

  #find({ workspaceId, id }: Pick<BudgetRule, 'workspaceId' | 'id'>): BudgetSubject | undefined {
    for (const alike of this.#workspaces.get(workspaceId)?.subjects.values() ?? []) {
      const subject = alike.find(({ rules }) => rules.some((rule) => rule.id === id));
      if (subject) return subject;
    }
    return undefined;
  }
}

function countRouted(budgets: WorkspaceBudgets): void {
  const routed = [...budgets.subjects.values()]
    .flat()
    .filter(({ scope }) => isRouted(scope))
    .flatMap(({ rules }) => rules);
  budgets.routed = routed.length;
  budgets.hardRouted = routed.filter(({ isHard }) => isHard).length;
  budgets.filtered = [...budgets.subjects.values()].flat().filter(({ scope }) => scope.kind === 'where');
}

function hasHard({ rules }: BudgetSubject): boolean {
  return rules.some(({ isHard }) => isHard);
}

function nameOf(kind: BudgetScope['kind'], value: string): string {
  return `${kind} ${value}`;
}

function isOf(
  { scope, calendar }: Pick<BudgetSubject, 'scope' | 'calendar'>,
  other: Pick<BudgetRule, 'scope' | 'calendar'>,
): boolean {
  return (
    scope.kind === other.scope.kind &&
    scope.value === other.scope.value &&
    isSameCalendar(calendar, other.calendar)
  );
}

interface Mark {
  percent: number;
  mark: NanoUsd;
}

const known = new WeakMap<BudgetRule, readonly Mark[]>();

/** The spending from which on each threshold is reached, in nano-dollars; at least one. */
export function marksOf(rule: BudgetRule): readonly Mark[] {
  const marks = known.get(rule) ?? computeMarks(rule);
  known.set(rule, marks);
  return marks;
}

function computeMarks({ amount, thresholds }: BudgetRule): Mark[] {
  return thresholds.map((percent) => {
    // A product of both can exceed the safe integers.
    const mark = Number((BigInt(amount) * BigInt(percent) + 99n) / 100n);
    return { percent, mark: Math.max(1, mark) };
  });
}
