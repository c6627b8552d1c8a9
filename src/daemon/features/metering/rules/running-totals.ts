import type { NanoUsd } from '../../../../shared/money/money.ts';
import { utcDay } from '../../../../shared/time/time.ts';
import type { KeyLimits } from '../../../base/handler.ts';
import type { Spend } from '../store.ts';
import { RateWindow } from './rate-window.ts';

type Period = NonNullable<KeyLimits['spendCap']>['period'];

/** The spending, holds and requests of a key and its descendants. Starts empty; `add` adds what is on disk. */
export class KeyTotals {
  /** Reserved for running calls. */
  held: NanoUsd = 0;
  readonly accepted = new RateWindow();
  /** Set until the stored facts are added. */
  loading: Promise<void> | undefined;
  readonly #spend: Spend = { total: 0, day: 0, month: 0 };
  #day = '';

  /** The rest of a cap; negative if it was lowered below the spending. */
  available(cap: NonNullable<KeyLimits['spendCap']>, at: number): NanoUsd {
    return cap.amount - this.spentIn(cap.period, at) - this.held;
  }

  spentIn(period: Period, at: number): NanoUsd {
    this.#advance(utcDay(at));
    return this.#spend[period];
  }

  charge(amount: NanoUsd, at: number): void {
    this.#advance(utcDay(at));
    this.#spend.total += amount;
    this.#spend.month += amount;
    this.#spend.day += amount;
  }

  /** Adds what was stored as spent at that time. */
  add(spend: Spend, at: number): void {
    const day = utcDay(at);
    this.#advance(day);
    this.#spend.total += spend.total;
    if (day.slice(0, 7) === this.#day.slice(0, 7)) this.#spend.month += spend.month;
    if (day === this.#day) this.#spend.day += spend.day;
  }

  /** Days only advance: setting the clock back must not grant a second budget. */
  #advance(day: string): void {
    if (day <= this.#day) return;
    if (day.slice(0, 7) !== this.#day.slice(0, 7)) this.#spend.month = 0;
    this.#spend.day = 0;
    this.#day = day;
  }
}

/** The balance and holds of a prepaid workspace. */
export class BalanceTotals {
  held: NanoUsd = 0;
  balance: NanoUsd = 0;
  loading: Promise<void> | undefined;

  available(): NanoUsd {
    return this.balance - this.held;
  }
}
