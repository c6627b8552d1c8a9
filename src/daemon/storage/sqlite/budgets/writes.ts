import { isSameCalendar } from '../../../../shared/money/spend-periods.ts';
import type { BudgetRecord, FiredThreshold, Firing } from '../../../features/budgets/store.ts';
import { and, count, eq, type Orm } from '../engine/orm.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { budgetRecord, budgetRow } from './rows.ts';
import { budgets } from './tables.ts';

/** How many firings a budget remembers: those of some periods, should the clock be set back. */
const firedMax = 64;

type BudgetKey = Pick<BudgetRecord, 'workspaceId' | 'id'>;

export function budgetsWrites(orm: Orm, totals: BatchTotals) {
  const insertEvents = eventInsert(orm, totals);
  const isBudget = ({ workspaceId, id }: BudgetKey) =>
    and(eq(budgets.workspaceId, workspaceId), eq(budgets.id, id));
  const find = (budget: BudgetKey) => {
    const row = orm.select().from(budgets).where(isBudget(budget)).get();
    return row && budgetRecord(row);
  };
  return {
    'budgets.put': ({
      budget,
      max,
    }: {
      budget: Omit<BudgetRecord, 'fired'>;
      max: number;
    }): BudgetRecord | 'full' => {
      const before = find(budget);
      if (!before) {
        const others = orm
          .select({ count: count() })
          .from(budgets)
          .where(eq(budgets.workspaceId, budget.workspaceId))
          .get();
        if ((others?.count ?? 0) >= max) return 'full';
      }
      const isSameCount =
        before !== undefined &&
        before.period === budget.period &&
        before.scope.kind === budget.scope.kind &&
        before.scope.value === budget.scope.value &&
        isSameCalendar(before.calendar, budget.calendar);
      const record: BudgetRecord = {
        ...budget,
        createdAt: before?.createdAt ?? budget.createdAt,
        fired: isSameCount ? before.fired : [],
      };
      const row = budgetRow(record);
      orm
        .insert(budgets)
        .values(row)
        .onConflictDoUpdate({ target: [budgets.workspaceId, budgets.id], set: row })
        .run();
      return record;
    },
    'budgets.remove': (budget: BudgetKey): boolean =>
      orm.delete(budgets).where(isBudget(budget)).run().changes > 0,
    'budgets.fire': (firings: readonly Firing[]): FiredThreshold[] => {
      const done: Firing[] = [];
      for (const firing of firings) {
        const before = find(firing);
        const { fired } = firing;
        if (!before) continue;
        if (before.fired.some(({ period, percent }) => period === fired.period && percent === fired.percent))
          continue;
        orm
          .update(budgets)
          .set({ fired: [...before.fired, fired].slice(-firedMax) })
          .where(isBudget(firing))
          .run();
        done.push(firing);
      }
      const last = insertEvents(...done.map(({ event }) => event));
      if (done.length > 0) totals.addEvent(last);
      return done.map(({ fired }) => fired);
    },
  };
}

export type BudgetsWrites = ReturnType<typeof budgetsWrites>;
