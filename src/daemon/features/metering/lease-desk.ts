import type { NanoUsd } from '../../../shared/money.ts';
import type { KeyPolicy } from '../../handler.ts';
import { type BudgetRule, type BudgetRules, marksOf } from './budget-rules.ts';
import { type BudgetNews, warnedShare } from './budgets.ts';
import { LeaseAuthority } from './leases/authority.ts';
import {
  balanceSubject,
  budgetSubject,
  capSubject,
  type LimitName,
  limitOf,
  rateSubject,
} from './leases/limit-names.ts';
import type { EarlierCall, Subject } from './leases/messages.ts';
import type { Clock, QuotaTerms } from './leases/quota.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { CapWarning } from './limit-errors.ts';
import { rateWindowMs } from './rate-window.ts';

/** Enough for everything: a budget that warns only is counted, and refuses nothing. */
const unlimited = Number.MAX_SAFE_INTEGER / 4;

type LimitedKey = Pick<KeyPolicy, 'keyId' | 'limits' | 'isAutopilot'>;

export interface LeaseDeskDeps {
  ledger: Pick<LedgerStore, 'keyFacts' | 'balance' | 'subjectSpend'>;
  clock: Clock;
  /** Undefined for a key that does not exist. */
  keyOf: (keyId: string) => Promise<{ workspaceId: string; policy: LimitedKey } | undefined>;
  rules: BudgetRules;
  /** Called with the charge that reaches thresholds of a budget. */
  onNews?: (news: BudgetNews) => void;
  /** Called with the charge that reaches 80 % of a cap. */
  onCapWarning?: (warning: CapWarning) => void;
  /** How long members may take to give back; infinite where one that ends takes the others with it. */
  patienceMs?: number;
}

const capPeriods = ['day', 'month', 'total'] as const;

/** Where the members of a daemon get their leases: reads limits and what is spent of them, and notices what they reach. */
export class LeaseDesk<M> {
  readonly authority: LeaseAuthority<M>;
  readonly #deps: LeaseDeskDeps;
  readonly #keys = new Map<string, { workspaceId: string; policy: LimitedKey }>();
  /** The subjects of budgets that were read, by workspace and id. */
  readonly #budgets = new Map<string, Set<Subject>>();

  constructor(deps: LeaseDeskDeps) {
    this.#deps = deps;
    this.authority = new LeaseAuthority<M>({
      clock: deps.clock,
      ...(deps.patienceMs !== undefined && { patienceMs: deps.patienceMs }),
      load: (subject, calls) => this.#load(subject, limitOf(subject), calls),
      onSpent: (subject, charge) => this.#spent(limitOf(subject), charge),
    });
  }

  /** The limits of a key changed. Resolves when they apply to all calls that are admitted later. */
  async keyChanged(keyId: string): Promise<void> {
    const { authority } = this;
    const key = await this.#deps.keyOf(keyId);
    if (key) this.#keys.set(keyId, key);
    const { spendCap, requestsPerMinute } = key?.policy.limits ?? {};
    const set = (subject: Subject, limit: number | null | undefined) =>
      typeof limit === 'number' ? authority.setLimit(subject, limit) : authority.forget(subject);
    await Promise.all([
      ...capPeriods.map((period) =>
        set(capSubject(keyId, period), spendCap?.period === period ? spendCap.amount : undefined),
      ),
      set(rateSubject(keyId), requestsPerMinute),
    ]);
  }

  /** A budget was set or removed, and the rules know of it. Resolves as `keyChanged` does. */
  async budgetChanged(workspaceId: string, id: string): Promise<void> {
    const rule = this.#deps.rules.rule(workspaceId, id);
    for (const subject of this.#budgets.get(`${workspaceId}/${id}`) ?? []) {
      if (rule && subject === budgetSubject(rule)) await this.authority.setLimit(subject, limitBy(rule));
      else this.authority.forget(subject);
    }
  }

  /** Credit of a workspace is on disk. Its balance is read again, as it may have been read a moment before or after. */
  credited(workspaceId: string): void {
    this.authority.forget(balanceSubject(workspaceId));
  }

  async #load(
    subject: Subject,
    name: LimitName,
    calls: readonly EarlierCall[],
  ): Promise<QuotaTerms | undefined> {
    const { ledger, rules, clock } = this.#deps;
    const at = clock.now();
    const except = calls.map(({ requestId }) => requestId);
    if (name.kind === 'balance') {
      return { limit: await ledger.balance(name.workspaceId, { except }), span: 'none', spent: 0 };
    }
    if (name.kind === 'budget') {
      const { workspaceId, id, scope, period } = name;
      const known = this.#budgets.get(`${workspaceId}/${id}`) ?? new Set();
      this.#budgets.set(`${workspaceId}/${id}`, known.add(subject));
      const spend = await ledger.subjectSpend({ workspaceId, ...scope }, { at, except });
      const rule = rules.rule(workspaceId, id);
      if (!rule || budgetSubject(rule) !== subject) return undefined;
      return { limit: limitBy(rule), span: period, spent: spend[period] };
    }
    const { keyId } = name;
    const { spend, recent } = await ledger.keyFacts(keyId, { at, since: at - rateWindowMs, except });
    const key = await this.#deps.keyOf(keyId);
    if (!key) return undefined;
    this.#keys.set(keyId, key);
    const { spendCap, requestsPerMinute } = key.policy.limits ?? {};
    if (name.kind === 'cap') {
      if (spendCap?.period !== name.period) return undefined;
      const span = name.period === 'total' ? 'none' : name.period;
      return { limit: spendCap.amount, span, spent: spend[name.period] };
    }
    if (!requestsPerMinute) return undefined;
    const times = [...recent, ...calls.map(({ createdAt }) => createdAt)];
    const ages = times.map((time) => Math.max(0, at - time)).filter((age) => age < rateWindowMs);
    return { limit: requestsPerMinute, span: 'minute', spent: ages };
  }

  #spent(name: LimitName, { amount, spent, limit }: { amount: number; spent: number; limit: number }): void {
    const at = this.#deps.clock.now();
    if (name.kind === 'cap') {
      const key = this.#keys.get(name.keyId);
      const warned = limit * warnedShare;
      if (!key || spent < warned || spent - amount >= warned) return;
      const cap = { amount: limit, period: name.period };
      this.#deps.onCapWarning?.({ ...key, cap, spent, at });
    } else if (name.kind === 'budget') {
      const rule = this.#deps.rules.rule(name.workspaceId, name.id);
      if (!rule) return;
      const reached = marksOf(rule).filter(({ mark }) => spent >= mark && spent - amount < mark);
      if (reached.length === 0) return;
      this.#deps.onNews?.({ rule, spent, at, percents: reached.map(({ percent }) => percent) });
    }
  }
}

function limitBy({ isHard, amount }: BudgetRule): NanoUsd {
  return isHard ? amount : unlimited;
}
