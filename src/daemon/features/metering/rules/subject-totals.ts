import type { NanoUsd } from '../../../../shared/money/money.ts';
import {
  endOfPeriod,
  noSpend,
  type PeriodSpend,
  type SpendCalendar,
  type SpendPeriod,
  spendPeriods,
  startOfPeriod,
} from '../../../../shared/money/spend-periods.ts';

/** What the calls of a budget's subject spent and hold. Starts empty; `add` adds what is on disk. */
export class SubjectTotals {
  /** When its periods begin. */
  readonly calendar: SpendCalendar | undefined;
  /** Reserved for running calls. */
  held: NanoUsd = 0;
  readonly #spend: PeriodSpend = { ...noSpend };
  readonly #starts: PeriodSpend = { ...noSpend };
  /** The end of the current day, with which all other periods end, too. */
  #dayEnd = 0;

  constructor(calendar?: SpendCalendar) {
    this.calendar = calendar;
  }

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
      if (startOfPeriod(period, at, this.calendar) === this.#starts[period])
        this.#spend[period] += spend[period];
    }
  }

  /** Periods only advance: setting the clock back must not grant a second budget. */
  #advance(at: number): void {
    if (at < this.#dayEnd) return;
    for (const period of spendPeriods) {
      const start = startOfPeriod(period, at, this.calendar);
      if (start === this.#starts[period]) continue;
      this.#starts[period] = start;
      this.#spend[period] = 0;
    }
    this.#dayEnd = endOfPeriod('day', at, this.calendar) ?? 0;
  }
}
