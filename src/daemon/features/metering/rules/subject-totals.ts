import type { NanoUsd } from '../../../../shared/money/money.ts';
import {
  noSpend,
  type PeriodSpend,
  type SpendPeriod,
  spendPeriods,
  startOfPeriod,
} from '../../../../shared/money/spend-periods.ts';

const dayMs = 86_400_000;

/** What the calls of a budget's subject spent and hold. Starts empty; `add` adds what is on disk. */
export class SubjectTotals {
  /** Reserved for running calls. */
  held: NanoUsd = 0;
  /** Set until the stored spending is added. */
  loading: Promise<void> | undefined;
  readonly #spend: PeriodSpend = { ...noSpend };
  readonly #starts: PeriodSpend = { ...noSpend };
  /** The end of the current day. */
  #dayEnd = 0;

  spentIn(period: SpendPeriod, at: number): NanoUsd {
    this.#advance(at);
    return this.#spend[period];
  }

  charge(amount: NanoUsd, at: number): void {
    this.#advance(at);
    for (const period of spendPeriods) this.#spend[period] += amount;
  }

  /** Adds the spending that was stored at that time. */
  add(spend: PeriodSpend, at: number): void {
    this.#advance(at);
    for (const period of spendPeriods) {
      if (startOfPeriod(period, at) === this.#starts[period]) this.#spend[period] += spend[period];
    }
  }

  /** Periods only advance: setting the clock back must not grant a second budget. */
  #advance(at: number): void {
    if (at < this.#dayEnd) return;
    for (const period of spendPeriods) {
      const start = startOfPeriod(period, at);
      if (start === this.#starts[period]) continue;
      this.#starts[period] = start;
      this.#spend[period] = 0;
    }
    this.#dayEnd = startOfPeriod('day', at) + dayMs;
  }
}
