import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { SpendPeriod } from '../../../../shared/money/spend-periods.ts';

/** Whose calls a budget counts. Of a tag it is `team=search`; of a workspace there is no value. */
export interface BudgetScope {
  kind: 'workspace' | 'key' | 'user' | 'tag';
  value: string;
}

/** The part of a budget that decides about calls. */
export interface BudgetRule {
  workspaceId: string;
  /** Unique in the workspace. */
  id: string;
  scope: BudgetScope;
  period: SpendPeriod;
  amount: NanoUsd;
  /** Whether calls that could exceed it are rejected. */
  isHard: boolean;
  /** Percentages of the amount. */
  thresholds: readonly number[];
}

/** The calls of which a budget counts the charges. */
export interface SpendSubject extends BudgetScope {
  workspaceId: string;
}
