import { ApiError } from '../../../shared/errors.ts';
import type { NanoUsd } from '../../../shared/money.ts';
import type { KeyPolicy } from '../../handler.ts';
import { BalanceBook, KeyBook } from './books.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { HoldRecord, Spend } from './metering-store.ts';
import { rateWindowMs } from './rate-window.ts';
import { balanceTooLow, capReached, rateReached } from './refusals.ts';

/** What a call that asks for money is held to. */
export interface HoldTerms {
  /** Of the calling key; undefined for a login. */
  policy: KeyPolicy | undefined;
  /** Whether the workspace pays in advance. */
  isPrepaid: boolean;
  /** What the call can do with less money than it asked for: how much of it, or undefined when that is not worth it. */
  fit: (affordable: NanoUsd) => NanoUsd | undefined;
}

/** A call that is begun and whose end is not on disk yet. */
export interface OpenCall {
  record: HoldRecord;
  policy: KeyPolicy | undefined;
  isRunning: boolean;
  /** Set once it was settled. */
  charged: { amount: NanoUsd; at: number } | undefined;
}

/** What a key and those that it issued have used. */
export interface KeyUse {
  spend: Spend;
  requestsLastMinute: number;
}

export interface BudgetsNeeds {
  ledger: Pick<LedgerStore, 'keyFacts' | 'balance'>;
  clock: { now(): number; elapsed(): number };
  /** Every call whose end is not on disk yet. */
  open: ReadonlySet<OpenCall>;
}

/**
 * The money and the rates that calls share, in memory. A book is opened when a limit first asks for it: from what is on
 * disk without the open calls, and these; from then on every hold and charge goes into it, so that it is never stale.
 */
export class Budgets {
  readonly #needs: BudgetsNeeds;
  readonly #keys = new Map<string, KeyBook>();
  readonly #balances = new Map<string, BalanceBook>();

  constructor(needs: BudgetsNeeds) {
    this.#needs = needs;
  }

  /** Opens the books that these terms ask for; at once where they are open. */
  async ready({ policy, isPrepaid }: HoldTerms, workspaceId: string): Promise<void> {
    // What the owner changes while a book is read may ask for another one.
    for (;;) {
      const waits: Promise<void>[] = [];
      for (let key = policy; key; key = key.parent) {
        if (!key.limits?.spendCap && !key.limits?.requestsPerMinute) continue;
        const { loading } = this.#keys.get(key.keyId) ?? this.#openKey(key.keyId);
        if (loading) waits.push(loading);
      }
      if (isPrepaid) {
        const { loading } = this.#balances.get(workspaceId) ?? this.#openBalance(workspaceId);
        if (loading) waits.push(loading);
      }
      if (waits.length === 0) return;
      await Promise.all(waits);
    }
  }

  /**
   * How much a call may hold, at most what it asks for. Fails with `limit_reached` or `insufficient_balance`. Nothing may
   * happen between this and `held`.
   */
  admit({ workspaceId, amount }: HoldRecord, terms: HoldTerms): NanoUsd {
    const now = this.#needs.clock.now();
    this.#checkRates(terms.policy);
    let affordable = Number.POSITIVE_INFINITY;
    let refusal: (() => ApiError) | undefined;
    for (let key = terms.policy; key; key = key.parent) {
      const cap = key.limits?.spendCap;
      const book = cap && this.#keys.get(key.keyId);
      if (!book || book.available(cap, now) >= affordable) continue;
      affordable = book.available(cap, now);
      refusal = () => capReached(cap, { spent: book.spentIn(cap.period, now), held: book.held, now });
    }
    const balance = terms.isPrepaid ? this.#balances.get(workspaceId) : undefined;
    if (balance && balance.available() < affordable) {
      affordable = balance.available();
      refusal = () => balanceTooLow(balance);
    }
    affordable = Math.max(0, affordable);
    if (amount <= affordable) return amount;
    const fitting = terms.fit(affordable);
    if (fitting === undefined) throw refusal?.() ?? new TypeError('nothing limits this call');
    if (fitting > affordable) throw new RangeError(`${fitting} does not fit into ${affordable}`);
    return fitting;
  }

  /** A call was begun. */
  held({ record, policy }: OpenCall): void {
    if (this.#keys.size > 0) {
      const at = this.#needs.clock.elapsed();
      for (const book of this.#booksOf(record, policy)) {
        book.held += record.amount;
        book.accepted.add(at);
      }
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.held += record.amount;
  }

  /** It runs no more: what it held is free again. */
  released({ record, policy }: OpenCall): void {
    if (this.#keys.size > 0) {
      for (const book of this.#booksOf(record, policy)) book.held -= record.amount;
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.held -= record.amount;
  }

  charged({ record, policy }: OpenCall, amount: NanoUsd, at: number): void {
    if (amount === 0) return;
    if (this.#keys.size > 0) {
      for (const book of this.#booksOf(record, policy)) book.charge(amount, at);
    }
    const balance = this.#balances.size > 0 ? this.#balances.get(record.workspaceId) : undefined;
    if (balance) balance.balance -= amount;
  }

  /** What a workspace has, without what is held. */
  async balanceOf(workspaceId: string): Promise<NanoUsd> {
    const book = this.#balances.get(workspaceId) ?? this.#openBalance(workspaceId);
    await book.loading;
    return book.balance;
  }

  /** Credit that is on disk; the book was opened before it was written. */
  credited(workspaceId: string, amount: NanoUsd): void {
    const book = this.#balances.get(workspaceId);
    if (book) book.balance += amount;
  }

  /** What a key and those that descend from it have used, running calls not charged yet. */
  async usedBy(keyId: string): Promise<KeyUse> {
    const { clock, ledger, open } = this.#needs;
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

  #checkRates(policy: KeyPolicy | undefined): void {
    const now = this.#needs.clock.elapsed();
    for (let key = policy; key; key = key.parent) {
      const limit = key.limits?.requestsPerMinute;
      if (!limit) continue;
      const waitMs = this.#keys.get(key.keyId)?.accepted.waitMs(limit, now) ?? 0;
      if (waitMs > 0) throw rateReached(limit, waitMs);
    }
  }

  *#booksOf({ keyId }: HoldRecord, policy: KeyPolicy | undefined): Generator<KeyBook> {
    const own = policy === undefined && keyId !== null ? this.#keys.get(keyId) : undefined;
    if (own) yield own;
    for (let key = policy; key; key = key.parent) {
      const book = this.#keys.get(key.keyId);
      if (book) yield book;
    }
  }

  #openKey(keyId: string): KeyBook {
    const { clock, ledger, open } = this.#needs;
    const [at, elapsed] = [clock.now(), clock.elapsed()];
    const book = new KeyBook();
    this.#keys.set(keyId, book);
    const except: string[] = [];
    for (const call of open) {
      if (!isOf(call, keyId)) continue;
      except.push(call.record.requestId);
      if (call.isRunning) book.held += call.record.amount;
      if (call.charged) book.charge(call.charged.amount, call.charged.at);
      const ago = Math.max(0, at - call.record.createdAt);
      if (ago < rateWindowMs) book.accepted.add(elapsed - ago);
    }
    book.loading = ledger.keyFacts(keyId, { at, since: at - rateWindowMs, except }).then(
      (facts) => {
        book.take(facts, at);
        book.accepted.addEarlier(facts.recent.map((time) => elapsed - Math.max(0, at - time)));
        book.loading = undefined;
      },
      (cause) => {
        this.#keys.delete(keyId);
        throw new ApiError('unavailable', { cause });
      },
    );
    book.loading.catch(() => {});
    return book;
  }

  #openBalance(workspaceId: string): BalanceBook {
    const book = new BalanceBook();
    this.#balances.set(workspaceId, book);
    const except: string[] = [];
    for (const { record, isRunning, charged } of this.#needs.open) {
      if (record.workspaceId !== workspaceId) continue;
      except.push(record.requestId);
      if (isRunning) book.held += record.amount;
      if (charged) book.balance -= charged.amount;
    }
    book.loading = this.#needs.ledger.balance(workspaceId, { except }).then(
      (balance) => {
        book.balance += balance;
        book.loading = undefined;
      },
      (cause) => {
        this.#balances.delete(workspaceId);
        throw new ApiError('unavailable', { cause });
      },
    );
    book.loading.catch(() => {});
    return book;
  }
}

/** Whether a key, or one that descends from it, made the call. */
function isOf({ record, policy }: OpenCall, keyId: string): boolean {
  if (record.keyId === keyId) return true;
  for (let key = policy; key; key = key.parent) if (key.keyId === keyId) return true;
  return false;
}
