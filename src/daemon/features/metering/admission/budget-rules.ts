import type { CallLabels } from '../../../../shared/constants/call-labels.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { KeyPolicy } from '../../../base/handler.ts';
import type { BudgetRule, BudgetScope } from '../rules/budget-rule.ts';
import type { SubjectTotals } from '../rules/subject-totals.ts';

/** The calls that budgets of one scope count, and what they spent once that is loaded. */
export interface BudgetSubject {
  readonly workspaceId: string;
  readonly scope: BudgetScope;
  rules: readonly BudgetRule[];
  totals: SubjectTotals | undefined;
}

/** What a call states of itself that budgets look at. */
export interface BudgetedCall {
  workspaceId: string;
  keyId: string | null;
  labels: Pick<CallLabels, 'user' | 'tags'>;
}

const none: readonly BudgetSubject[] = [];

/** The budgets of all workspaces, found by the calls that they count. */
export class BudgetRules {
  readonly #workspaces = new Map<string, Map<string, BudgetSubject>>();

  /** Whether a workspace has any budget. */
  has(workspaceId: string): boolean {
    return this.#workspaces.size > 0 && this.#workspaces.has(workspaceId);
  }

  /** Adds a budget, or replaces the one with its id. */
  put(rule: BudgetRule): void {
    const before = this.#find(rule);
    if (before && !isSame(before.scope, rule.scope)) this.remove(rule);
    const subjects = this.#workspaces.get(rule.workspaceId) ?? new Map<string, BudgetSubject>();
    this.#workspaces.set(rule.workspaceId, subjects);
    const name = nameOf(rule.scope.kind, rule.scope.value);
    const { workspaceId, scope } = rule;
    const subject = subjects.get(name) ?? { workspaceId, scope, rules: [], totals: undefined };
    subjects.set(name, subject);
    subject.rules = [...subject.rules.filter(({ id }) => id !== rule.id), rule];
  }

  remove({ workspaceId, id }: Pick<BudgetRule, 'workspaceId' | 'id'>): void {
    const subject = this.#find({ workspaceId, id });
    const subjects = this.#workspaces.get(workspaceId);
    if (!subject || !subjects) return;
    subject.rules = subject.rules.filter((rule) => rule.id !== id);
    if (subject.rules.length === 0) subjects.delete(nameOf(subject.scope.kind, subject.scope.value));
    if (subjects.size === 0) this.#workspaces.delete(workspaceId);
  }

  /** A budget by its id. */
  rule(workspaceId: string, id: string): BudgetRule | undefined {
    return this.#find({ workspaceId, id })?.rules.find((rule) => rule.id === id);
  }

  /** What budgets of this scope share; undefined without such a budget. */
  subject(workspaceId: string, { kind, value }: BudgetScope): BudgetSubject | undefined {
    return this.#workspaces.get(workspaceId)?.get(nameOf(kind, value));
  }

  /** The subjects of which a call is part: of its workspace, of its key and those that it descends from, its user and tags. */
  of(call: BudgetedCall, policy: KeyPolicy | undefined): readonly BudgetSubject[] {
    if (this.#workspaces.size === 0) return none;
    const subjects = this.#workspaces.get(call.workspaceId);
    if (!subjects) return none;
    const found: BudgetSubject[] = [];
    const add = (kind: BudgetScope['kind'], value: string) => {
      const subject = subjects.get(nameOf(kind, value));
      if (subject) found.push(subject);
    };
    add('workspace', '');
    if (policy === undefined && call.keyId !== null) add('key', call.keyId);
    for (let key = policy; key; key = key.parent) add('key', key.keyId);
    const { user, tags } = call.labels;
    if (user !== null) add('user', user);
    for (const name in tags) add('tag', `${name}=${tags[name]}`);
    return found;
  }

  /** Whether a budget could reject a call. */
  isHard(call: BudgetedCall, policy: KeyPolicy | undefined): boolean {
    return this.of(call, policy).some(({ rules }) => rules.some(({ isHard }) => isHard));
  }

  #find({ workspaceId, id }: Pick<BudgetRule, 'workspaceId' | 'id'>): BudgetSubject | undefined {
    for (const subject of this.#workspaces.get(workspaceId)?.values() ?? []) {
      if (subject.rules.some((rule) => rule.id === id)) return subject;
    }
    return undefined;
  }
}

function nameOf(kind: BudgetScope['kind'], value: string): string {
  return `${kind} ${value}`;
}

function isSame(a: BudgetScope, b: BudgetScope): boolean {
  return a.kind === b.kind && a.value === b.value;
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
