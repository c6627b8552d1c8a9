import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { KeyLimits } from '../../../base/handler.ts';
import type { BudgetRule } from '../rules/budget-rule.ts';
import { marksOf } from './budget-rules.ts';

/** The spent share of a cap at which its owner is warned. */
const warnedShare = 0.8;

/** What is spent since a charge of `amount`. */
interface Charged {
  spent: NanoUsd;
  amount: NanoUsd;
}

/** The thresholds of a budget that a charge reached, in percent. */
export function marksReached(rule: BudgetRule, { spent, amount }: Charged): readonly number[] {
  return marksOf(rule)
    .filter(({ mark }) => spent >= mark && spent - amount < mark)
    .map(({ percent }) => percent);
}

/** Whether a charge reached the share of a cap at which its owner is warned. */
export function capMarkReached(cap: NonNullable<KeyLimits['spendCap']>, { spent, amount }: Charged): boolean {
  const warned = cap.amount * warnedShare;
  return spent >= warned && spent - amount < warned;
}
