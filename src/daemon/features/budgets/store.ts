import type { NewEvent } from '../events/index.ts';
import type { BudgetRule } from '../metering/index.ts';

/** What fired in a period, once: a threshold, or the first call that was refused (percentage 0). */
export interface FiredThreshold {
  /** The start of the period, milliseconds since 1970; 0 if the budget has none. */
  period: number;
  percent: number;
  at: number;
}

/** A limit on what some of a workspace's calls spend. */
export interface BudgetRecord extends BudgetRule {
  createdAt: number;
  updatedAt: number;
  /** The latest ones, oldest first. */
  fired: FiredThreshold[];
}

/** What is to be recorded if it did not fire in that period before. */
export interface Firing {
  workspaceId: string;
  id: string;
  fired: FiredThreshold;
  event: NewEvent;
}

/** Each method is one transaction. */
export interface BudgetsStore {
  /** The budgets of all workspaces, by workspace and id. */
  all(): Promise<BudgetRecord[]>;
  list(workspaceId: string): Promise<BudgetRecord[]>;
  byId(workspaceId: string, id: string): Promise<BudgetRecord | undefined>;
  /**
   * Adds or replaces a budget; what fired, and when it was created, stay, unless it counts other calls now or has another period.
   * Returns 'full' if it would be one more than `max` in its workspace.
   */
  put(budget: Omit<BudgetRecord, 'fired'>, options: { max: number }): Promise<BudgetRecord | 'full'>;
  /** Returns whether there was such a budget. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  /** Records what has not fired before, with its events; returns which. Does nothing if the budget is gone. */
  fire(firings: readonly Firing[]): Promise<FiredThreshold[]>;
}
