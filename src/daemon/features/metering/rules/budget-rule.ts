import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { SpendCalendar, SpendPeriod } from '../../../../shared/money/spend-periods.ts';

/**
 * Which calls a budget counts: by whom they are made, or by the model and provider that answer. Of a tag it is `team=search`;
 * of a workspace there is no value, and of `where` it is a filter.
 */
export interface BudgetScope {
  kind: 'workspace' | 'key' | 'user' | 'tag' | 'model' | 'provider' | 'where';
  value: string;
}

/** The part of a budget that decides about calls. */
export interface BudgetRule {
  workspaceId: string;
  /** Unique in the workspace. */
  id: string;
  scope: BudgetScope;
  period: SpendPeriod;
  /** When its periods begin; those of UTC without it. */
  calendar?: SpendCalendar | undefined;
  amount: NanoUsd;
  /** Whether calls that could exceed it are rejected. */
  isHard: boolean;
  /** Percentages of the amount. */
  thresholds: readonly number[];
}

/** The calls of which a budget counts the charges. */
export interface SpendSubject extends BudgetScope {
  workspaceId: string;
  /** When the periods begin in which they are added up; those of UTC without it. */
  calendar?: SpendCalendar | undefined;
}
