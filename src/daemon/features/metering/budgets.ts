import { ApiError } from '../../../shared/errors.ts';
import type { NanoUsd } from '../../../shared/money.ts';
import type { KeyPolicy } from '../../handler.ts';
import type { AgentTerms, Fit } from './agent-allowances.ts';
import type { LedgerStore } from './ledger-store.ts';
import { balanceTooLow, type CapWarning, capReached, rateReached } from './limit-errors.ts';
import { rateWindowMs } from './rate-window.ts';
import { BalanceTotals, KeyTotals } from './running-totals.ts';
import type { HoldRecord, Spend } from './store.ts';

/** The conditions of a hold. */
export interface HoldTerms {
  /** The calling key's policy; undefined for a login. */
  policy: KeyPolicy | undefined;
  /** Whether the workspace pays in advance. */
  isPrepaid: boolean;
  /** Set for the call of an agent. */
  agent?: AgentTerms | undefined;
  fit: Fit;
}

/** A started call whose settlement is not on disk. */
export interface OpenCall {
  record: HoldRecord;
  policy: KeyPolicy | undefined;
  isRunning: boolean;
  /** Set once it is settled. */
  charged: { amount: NanoUsd; at: number } | undefined;
}

/** The usage of a key and its descendants. */
export interface KeyUse {
  spend: Spend;
  requestsLastMinute: number;
}

/** The spent share of a cap at which its owner is warned. */
const warnedShare = 0.8;

export interface BudgetsDeps {
  ledger: Pick<LedgerStore, 'keyFacts' | 'balance'>;
  clock: { now(): number; elapsed(): number };
  /** Every call whose settlement is not on disk. */
  open: ReadonlySet<OpenCall>;
  /** Called once in each period, with the charge that reaches 80 % of a cap. */
  onCapWarning?: (warning: CapWarning) => void;
}

/**
 * The spending, balances and rates that calls share, in memory. Totals are loaded when a limit first needs them: from the
 * stored facts without the open calls, plus those. From then on every hold and charge updates them.
 */
export class Budgets {
  readonly #deps: BudgetsDeps;
  readonly #keys = new Map<string, KeyTotals>();
  readonly #balances = new Map<string, BalanceTotals>();

  constructor(deps: BudgetsDeps) {
    this.#deps = deps;
  }

  /** Loads the totals that these terms need. */
  async ready({ policy, isPrepaid }: HoldTerms, workspaceId: string): Promise<void> {
    // The owner may change limits while totals are loading.
    for (;;) {
      const waits: Promise<void>[] = [];
      for (let key = policy; key; key = key.parent) {
        if (!key.limits?.spendCap && !key.limits?.requestsPerMinute) continue;
        const { loading } = this.#keys.get(key.keyId) ?? this.#loadKey(key.keyId);
        if (loading) waits.push(loading);
      }
      if (isPrepaid) {
        const { loading } = this.#balances.get(workspaceId) ?? this.#loadBalance(workspaceId);
        if (loading) waits.push(loading);
      }
      if (waits.length === 0) return;
      await Promise.all(waits);
    }
  }

  /**
   * Returns the amount that a call may hold, at most the requested one. Fails with `limit_reached` or
   * `insufficient_balance`. `held` must follow synchronously.
   */
  admit({ workspaceId, amount }: HoldRecord, terms: HoldTerms): NanoUsd {
    const now = this.#deps.clock.now();
    this.#checkRates(terms.policy);
    let affordable = Number.POSITIVE_INFINITY;
    let limitError: (() => ApiError) | undefined;
    for (let key = terms.policy; key; key = key.parent) {
      const cap = key.limits?.spendCap;
      const totals = cap && this.#keys.get(key.keyId);
      if (!totals || totals.available(cap, now) >= affordable) continue;
      affordable = totals.available(cap, now);
      const { held } = totals;
      const policy = key;
      limitError = () => capReached(cap, { policy, spent: totals.spentIn(cap.period, now), held, now });
    }
    const balance = terms.isPrepaid ? this.#balances.get(workspaceId) : undefined;
    if (balance && balance.available() < affordable) {
      const byCaps = affordable;
      affordable = balance.available();
      limitError = () => balanceTooLow(balance, byCaps);
    }
    affordable = Math.max(0, affordable);
    if (amount <= affordable) return amount;
    const fitting = terms.fit(affordable, { isWhole: terms.agent?.hasMaximum === true });
    if (fitting === undefined) throw limitError?.() ?? new TypeError('no limit applies to this call');
    if (fitting > affordable) throw new RangeError(`${fitting} does not fit into ${affordable}`);
    return fitting;
  }

  /** The remaining balance of a prepaid workspace, once it is loaded. */
  availableTo(workspaceId: string): NanoUsd {
    return this.#balances.get(workspaceId)?.available() ?? 0;
  }

  /** Adds a started call. */
  held({ record, policy }: OpenCall): void {
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
  released({ record, policy }: OpenCall): void {
    if (this.#keys.size > 0) {
      for (const totals of this.#totalsOf(record, policy)) totals.held -= record.amount;
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.held -= record.amount;
  }

  charged({ record, policy }: OpenCall, amount: NanoUsd, at: number): void {
    if (amount === 0) return;
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
  async usedBy(keyId: string): Promise<KeyUse> {
    const { clock, ledger, open } = this.#deps;
    const at = clock.now();
    const since = at - rateWindowMs;
    const calls = [...open].filter((call) => isOf(call, keyId));
    const except = calls.map(({ record }) => record.requestId);
    const { spend, recent } = await ledger.keyFacts(keyId, { at, since, except });
    const settling = calls.reduce((sum, { charged }) => sum + (charged?.amount ?? 0), 0);
    return {
      spend: { total: spend.total + settling, day: spend.day + settling, month: spend.month + settling },
      requestsLastMinute: recent.length + calls.filter(({ record }) => record.createdAt > since).length,
    };
  }

  #warn(workspaceId: string, policy: KeyPolicy | undefined, charge: { amount: NanoUsd; at: number }): void {
    const { amount, at } = charge;
    for (let key = policy; key; key = key.parent) {
      const cap = key.limits?.spendCap;
      const totals = cap && this.#keys.get(key.keyId);
      if (!totals) continue;
      const spent = totals.spentIn(cap.period, at);
      const warned = cap.amount * warnedShare;
      if (spent < warned || spent - amount >= warned) continue;
      this.#deps.onCapWarning?.({ workspaceId, policy: key, cap, spent, at });
    }
  }

  #checkRates(policy: KeyPolicy | undefined): void {
    const now = this.#deps.clock.elapsed();
    for (let key = policy; key; key = key.parent) {
      const limit = key.limits?.requestsPerMinute;
      if (!limit) continue;
      const waitMs = this.#keys.get(key.keyId)?.accepted.waitMs(limit, now) ?? 0;
      if (waitMs > 0) throw rateReached(limit, waitMs);
    }
  }

  *#totalsOf({ keyId }: HoldRecord, policy: KeyPolicy | undefined): Generator<KeyTotals> {
    const own = policy === undefined && keyId !== null ? this.#keys.get(keyId) : undefined;
    if (own) yield own;
    for (let key = policy; key; key = key.parent) {
      const totals = this.#keys.get(key.keyId);
      if (totals) yield totals;
    }
  }

  #loadKey(keyId: string): KeyTotals {
    const { clock, ledger, open } = this.#deps;
    const [at, elapsed] = [clock.now(), clock.elapsed()];
    const totals = new KeyTotals();
    this.#keys.set(keyId, totals);
    const except: string[] = [];
    for (const call of open) {
      if (!isOf(call, keyId)) continue;
      except.push(call.record.requestId);
      if (call.isRunning) totals.held += call.record.amount;
      if (call.charged) totals.charge(call.charged.amount, call.charged.at);
      const ago = Math.max(0, at - call.record.createdAt);
      if (ago < rateWindowMs) totals.accepted.add(elapsed - ago);
    }
    totals.loading = ledger.keyFacts(keyId, { at, since: at - rateWindowMs, except }).then(
      (facts) => {
        totals.add(facts, at);
        totals.accepted.addEarlier(facts.recent.map((time) => elapsed - Math.max(0, at - time)));
        totals.loading = undefined;
      },
      (cause) => {
        this.#keys.delete(keyId);
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

/** Whether a key, or one that descends from it, made the call. */
function isOf({ record, policy }: OpenCall, keyId: string): boolean {
  if (record.keyId === keyId) return true;
  for (let key = policy; key; key = key.parent) if (key.keyId === keyId) return true;
  return false;
}
