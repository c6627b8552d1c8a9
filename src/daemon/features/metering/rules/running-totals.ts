import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { SpendPeriod } from '../../../../shared/money/spend-periods.ts';
import type { SpendCap } from '../../../base/handler.ts';
import { SubjectTotals } from './subject-totals.ts';

/** The period of a cap, as spending is added up. */
export function periodOf({ period }: Pick<SpendCap, 'period'>): SpendPeriod {
  return period === 'total' ? 'none' : period;
}

/** The spending and holds of a key and its descendants. */
export class KeyTotals extends SubjectTotals {
  /** The rest of a cap; negative if it was lowered below the spending. */
  available(cap: SpendCap, at: number): NanoUsd {
    return cap.amount - this.spentOf(cap, at) - this.held;
  }

  /** What is spent in the period of a cap. */
  spentOf(cap: Pick<SpendCap, 'period'>, at: number): NanoUsd {
    return this.spentIn(periodOf(cap), at);
  }
}

/** The balance and holds of a prepaid workspace. */
export class BalanceTotals {
  held: NanoUsd = 0;
  balance: NanoUsd = 0;

  available(): NanoUsd {
    return this.balance - this.held;
  }
}
