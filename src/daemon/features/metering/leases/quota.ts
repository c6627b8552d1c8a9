import { type SpendPeriod, startOfPeriod } from '../../../../shared/spend-periods.ts';
import type { QuotaFacts } from './messages.ts';

const windowMs = 60_000;

/** Over which time a limit counts: a period in UTC, or any minute. */
export type Span = SpendPeriod | 'minute';

export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that only advances. */
  elapsed(): number;
}

/** A limit as it is stored. */
export interface QuotaTerms {
  limit: number;
  span: Span;
  /** Spent in the current period, or the age in milliseconds of each request in the last minute. */
  spent: number | readonly number[];
}

/**
 * A limit, what is spent of it, and what members hold. What is spent and out exceeds the limit only after the limit was
 * lowered; nothing is granted then.
 */
export class Quota<M> {
  limit: number;
  readonly span: Span;
  readonly #out = new Map<M, number>();
  readonly #spent: PeriodSpending | MinuteSpending;
  #outTotal = 0;
  #loans = 0;

  constructor({ limit, span, spent }: QuotaTerms, clock: Clock) {
    this.limit = limit;
    this.span = span;
    if (span === 'minute') {
      const ages = typeof spent === 'number' ? Array<number>(spent).fill(0) : spent;
      this.#spent = new MinuteSpending(clock, ages);
    } else {
      const sum = typeof spent === 'number' ? spent : spent.length;
      this.#spent = new PeriodSpending(clock, span, sum);
    }
  }

  get free(): number {
    return this.limit - this.spent - this.#outTotal;
  }

  get spent(): number {
    return this.#spent.sum();
  }

  get out(): number {
    return this.#outTotal;
  }

  /** How often something was lent. */
  get loans(): number {
    return this.#loans;
  }

  outOf(member: M): number {
    return this.#out.get(member) ?? 0;
  }

  /** The members that hold a part. */
  holders(): readonly M[] {
    return [...this.#out.keys()];
  }

  /** Moves an amount to a member; a negative one comes back. */
  lend(member: M, amount: number): void {
    if (amount === 0) return;
    const now = this.outOf(member) + amount;
    if (now < 0) throw new RangeError('a member returned more than it held');
    if (now === 0) this.#out.delete(member);
    else this.#out.set(member, now);
    this.#outTotal += amount;
    if (amount > 0) this.#loans += 1;
  }

  /** A member spent a part of what it holds. */
  spend(member: M, amount: number): void {
    this.lend(member, -amount);
    this.#spent.add(amount);
  }

  facts(need: number): QuotaFacts {
    const { limit, spent, out } = this;
    const waitMs =
      this.#spent instanceof MinuteSpending ? this.#spent.waitMs(need - (limit - spent - out)) : undefined;
    return { limit, spent, out, waitMs };
  }
}

/** Spending in the current period. Periods only advance: setting the clock back must not grant a second limit. */
class PeriodSpending {
  readonly #clock: Clock;
  readonly #period: SpendPeriod;
  #start: number;
  #sum: number;

  constructor(clock: Clock, period: SpendPeriod, sum: number) {
    this.#clock = clock;
    this.#period = period;
    this.#start = startOfPeriod(period, clock.now());
    this.#sum = sum;
  }

  sum(): number {
    const start = startOfPeriod(this.#period, this.#clock.now());
    if (start > this.#start) {
      this.#start = start;
      this.#sum = 0;
    }
    return this.#sum;
  }

  add(amount: number): void {
    this.#sum = this.sum() + amount;
  }
}

/** Requests of the last minute, from when the authority learned of them: never too early, so that no minute has more. */
class MinuteSpending {
  readonly #clock: Clock;
  #times: { at: number; count: number }[];
  #sum: number;

  constructor(clock: Clock, ages: readonly number[]) {
    this.#clock = clock;
    const now = clock.elapsed();
    this.#times = ages.map((age) => ({ at: now - age, count: 1 })).sort((a, b) => a.at - b.at);
    this.#sum = ages.length;
  }

  sum(): number {
    const until = this.#clock.elapsed() - windowMs;
    let gone = 0;
    for (const { at, count } of this.#times) {
      if (at > until) break;
      gone += 1;
      this.#sum -= count;
    }
    if (gone > 0) this.#times = this.#times.slice(gone);
    return this.#sum;
  }

  add(count: number): void {
    const at = this.#clock.elapsed();
    this.#sum = this.sum() + count;
    const last = this.#times.at(-1);
    if (last?.at === at) last.count += count;
    else this.#times.push({ at, count });
  }

  /** Milliseconds until that many requests have left the minute; a whole minute if there are not as many. */
  waitMs(many: number): number {
    const now = this.#clock.elapsed();
    let left = 0;
    for (const { at, count } of this.#times) {
      left += count;
      if (left >= many) return Math.max(1, at + windowMs - now);
    }
    return windowMs;
  }
}
