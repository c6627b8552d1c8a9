import type { BudgetsStore } from '../../../features/budgets/store.ts';
import { and, asc, eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { budgetRecord } from './rows.ts';
import { budgets } from './tables.ts';
import type { BudgetsWrites } from './writes.ts';

export function budgetsStore({ orm, writer }: StoreContext<BudgetsWrites>): BudgetsStore {
  return {
    all: async () =>
      orm.select().from(budgets).orderBy(asc(budgets.workspaceId), asc(budgets.id)).all().map(budgetRecord),
    list: async (workspaceId) =>
      orm
        .select()
        .from(budgets)
        .where(eq(budgets.workspaceId, workspaceId))
        .orderBy(asc(budgets.id))
        .all()
        .map(budgetRecord),
    byId: async (workspaceId, id) => {
      const row = orm
        .select()
        .from(budgets)
        .where(and(eq(budgets.workspaceId, workspaceId), eq(budgets.id, id)))
        .get();
      return row && budgetRecord(row);
    },
    put: (budget, { max }) => writer.write('budgets.put', { budget, max }),
    remove: (workspaceId, id) => writer.write('budgets.remove', { workspaceId, id }),
    fire: (firings) => writer.write('budgets.fire', firings),
  };
}
