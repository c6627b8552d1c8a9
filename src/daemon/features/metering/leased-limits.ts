import { ApiError } from '../../../shared/errors.ts';
import type { NanoUsd } from '../../../shared/money.ts';
import type { KeyPolicy } from '../../handler.ts';
import type { BudgetRules } from './budget-rules.ts';
import { type BudgetNews, type HoldTerms, isOf, type OpenCall } from './budgets.ts';
import {
  balanceSubject,
  budgetSubject,
  capSubject,
  type LimitName,
  limitOf,
  rateSubject,
} from './leases/limit-names.ts';
import { type Claim, LeaseMember, type Shortage, type Taken } from './leases/member.ts';
import type { Subject, ToAuthority, ToMember } from './leases/messages.ts';
import { balanceTooLow, budgetReached, capReached, rateReached } from './limit-errors.ts';
import type { HoldRecord } from './store.ts';

export type LeasedCall = OpenCall & { taken: Taken };

export interface LeasedLimitsDeps {
  /** Delivers to the authority, in order. */
  send: (message: ToAuthority) => void;
  clock: { now(): number; elapsed(): number };
  rules: BudgetRules;
  /** Called with each call that a budget refuses. */
  onNews?: ((news: BudgetNews) => void) | undefined;
}

const nothing: Claim['money'] = [];

/** The limits of calls where several members admit them: each spends leases of what an authority counts. */
export class LeasedLimits {
  readonly #deps: LeasedLimitsDeps;
  readonly #member: LeaseMember;
  #open: ReadonlySet<LeasedCall> = new Set();

  constructor(deps: LeasedLimitsDeps) {
    this.#deps = deps;
    this.#member = new LeaseMember({
      send: deps.send,
      elapsed: () => deps.clock.elapsed(),
      openCalls: (subject) => this.#openCalls(subject),
    });
  }

  /** Counts these calls under limits that are set while they run. */
  count(open: ReadonlySet<LeasedCall>): void {
    this.#open = open;
  }

  /** For messages of the authority, in order. */
  receive(message: ToMember): void {
    this.#member.receive(message);
  }

  /** Gives back what is not needed. To be called every two seconds. */
  tidy(): void {
    this.#member.tidy();
  }

  /** Takes what a call may hold, at most the requested amount. Fails with `limit_reached`, `insufficient_balance` or `unavailable`. */
  async take(record: HoldRecord, terms: HoldTerms | undefined): Promise<Taken> {
    if (!terms) return { leases: [], amount: record.amount };
    const claim = () => this.#claimOf(record, terms);
    const taken = this.#member.take(claim());
    if (taken) return taken;
    const outcome = await this.#member.wait(claim).catch((cause: unknown) => {
      throw new ApiError('unavailable', { cause });
    });
    if ('taken' in outcome) return outcome.taken;
    throw this.#refusal(outcome.shortage, terms.policy);
  }

  /** A call ended. */
  release(taken: Taken, charged: NanoUsd): void {
    this.#member.release(taken, charged);
  }

  /** The settlement of a call is on disk, or was given up. */
  commit(taken: Taken): void {
    this.#member.commit(taken);
  }

  #claimOf(record: HoldRecord, { policy, isPrepaid, fit, agent }: HoldTerms): Claim {
    const money: Subject[] = [];
    let requests: Subject[] | undefined;
    for (let key = policy; key; key = key.parent) {
      const { spendCap, requestsPerMinute } = key.limits ?? {};
      if (spendCap) money.push(capSubject(key.keyId, spendCap.period));
      if (requestsPerMinute) {
        requests ??= [];
        requests.push(rateSubject(key.keyId));
      }
    }
    for (const { rules } of this.#deps.rules.of(record, policy)) {
      for (const rule of rules) money.push(budgetSubject(rule));
    }
    if (isPrepaid) money.push(balanceSubject(record.workspaceId));
    return {
      money,
      requests: requests ?? nothing,
      amount: record.amount,
      fit: (affordable) => fit(affordable, { isWhole: agent?.hasMaximum === true }),
    };
  }

  #refusal(shortage: Shortage, policy: KeyPolicy | undefined): ApiError {
    const { subject, limit, spent, out: held, waitMs = 0, affordableByOthers } = shortage;
    const name = limitOf(subject);
    const now = this.#deps.clock.now();
    if (name.kind === 'rate') return rateReached(limit, waitMs);
    if (name.kind === 'balance') return balanceTooLow({ balance: limit - spent, held }, affordableByOthers);
    if (name.kind === 'cap') {
      let key = policy;
      while (key && key.keyId !== name.keyId) key = key.parent;
      return capReached({ amount: limit, period: name.period }, { policy: key ?? {}, spent, held, now });
    }
    const rule = this.#deps.rules.rule(name.workspaceId, name.id);
    // It was removed a moment ago: the next call is not refused.
    if (!rule) return new ApiError('unavailable');
    this.#deps.onNews?.({ rule, spent, at: now, percents: [] });
    return budgetReached(rule, { spent, held, now });
  }

  #openCalls(subject: Subject) {
    const name = limitOf(subject);
    const calls = [...this.#open].filter((call) => isLimitedBy(call, name));
    return calls.map(({ record: { requestId, createdAt }, taken }) => ({
      requestId,
      createdAt,
      // Requests are not held.
      taken: name.kind === 'rate' ? { leases: [], amount: 0 } : taken,
    }));
  }
}

function isLimitedBy(call: OpenCall, name: LimitName): boolean {
  if (name.kind === 'cap' || name.kind === 'rate') return isOf(call, name.keyId);
  const { workspaceId, labels } = call.record;
  if (workspaceId !== name.workspaceId) return false;
  if (name.kind === 'balance' || name.scope.kind === 'workspace') return true;
  const { kind, value } = name.scope;
  if (kind === 'key') return isOf(call, value);
  if (kind === 'user') return labels.user === value;
  return Object.entries(labels.tags).some(([tag, each]) => `${tag}=${each}` === value);
}
