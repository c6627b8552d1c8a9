import type { NanoUsd } from '../../../shared/money.ts';
import { utcDay } from '../../../shared/time.ts';
import type { KeyLimits } from '../../handler.ts';
import type { KeyFacts } from './ledger-store.ts';
import type { Spend } from './metering-store.ts';
import { RateWindow } from './rate-window.ts';

type Period = NonNullable<KeyLimits['spendCap']>['period'];

/** What a key, and those that descend from it, spent, hold and asked. It begins empty and takes in what is on disk. */
export class KeyBook {
  /** Set aside for calls that run. */
  held: NanoUsd = 0;
  readonly accepted = new RateWindow();
  /** Until what is on disk was taken in. */
  loading: Promise<void> | undefined;
  readonly #spend: Spend = { total: 0, day: 0, month: 0 };
  #day = '';

  /** What may still be spent of a cap; below zero where it was lowered under what was spent. */
  available(cap: NonNullable<KeyLimits['spendCap']>, at: number): NanoUsd {
    return cap.amount - this.spentIn(cap.period, at) - this.held;
  }

  spentIn(period: Period, at: number): NanoUsd {
    this.#turn(utcDay(at));
    return this.#spend[period];
  }

  charge(amount: NanoUsd, at: number): void {
    this.#turn(utcDay(at));
    this.#spend.total += amount;
    this.#spend.month += amount;
    this.#spend.day += amount;
  }

  /** Adds what the store knew at that time. */
  take({ spend }: KeyFacts, at: number): void {
    const day = utcDay(at);
    this.#turn(day);
    this.#spend.total += spend.total;
    if (day.slice(0, 7) === this.#day.slice(0, 7)) this.#spend.month += spend.month;
    if (day === this.#day) this.#spend.day += spend.day;
  }

  /** Days only go forward: a clock that is set back must not give anybody a second budget. */
  #turn(day: string): void {
    if (day <= this.#day) return;
    if (day.slice(0, 7) !== this.#day.slice(0, 7)) this.#spend.month = 0;
    this.#spend.day = 0;
    this.#day = day;
  }
}

/** What a workspace that pays in advance has and holds. */
export class BalanceBook {
  held: NanoUsd = 0;
  balance: NanoUsd = 0;
  loading: Promise<void> | undefined;

  available(): NanoUsd {
    return this.balance - this.held;
  }
}
