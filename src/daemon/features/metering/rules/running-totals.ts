import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { SpendPeriod } from '../../../../shared/money/spend-periods.ts';
import type { SpendCap } from '../../../base/handler.ts';
import type { Spend } from '../store.ts';
import { RateWindow } from './rate-window.ts';
import { SubjectTotals } from './subject-totals.ts';

/** The period of a cap, as spending is added up. */
export function periodOf({ period }: Pick<SpendCap, 'period'>): SpendPeriod {
  return period === 'total' ? 'none' : period;
}

/** The spending, holds and requests of a key and its descendants. Starts empty; `addSpend` adds what is on disk. */
export class KeyTotals extends SubjectTotals {
  readonly accepted = new RateWindow();

  /** The rest of a cap; negative if it was lowered below the spending. */
  available(cap: SpendCap, at: number): NanoUsd {
    return cap.amount - this.spentOf(cap, at) - this.held;
  }

  /** What is spent in the period of a cap. */
  spentOf(cap: Pick<SpendCap, 'period'>, at: number): NanoUsd {
    return this.spentIn(periodOf(cap), at);
  }

  /** Adds what was stored as spent at that time. */
  addSpend({ total, ...spend }: Spend, at: number): void {
    this.add({ ...spend, none: total }, at);
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
