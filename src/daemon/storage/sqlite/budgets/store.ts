import { isSameCalendar, type SpendCalendar } from '../../../../shared/money/spend-periods.ts';
import type { BudgetRecord, BudgetsStore, FiredThreshold, Firing } from '../../../features/budgets/store.ts';
import type { BudgetRule } from '../../../features/metering/index.ts';
import { and, asc, count, eq, integer, type Orm, primaryKey, sqliteTable, text } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';

/** Columns of a `BudgetRecord`. */
export const budgets = sqliteTable(
  'budgets',
  {
    workspaceId: text().notNull(),
    id: text().notNull(),
    scope: text().$type<BudgetRule['scope']['kind']>().notNull(),
    /** Empty for the workspace. */
    scopeValue: text().notNull(),
    period: text().$type<BudgetRule['period']>().notNull(),
    amount: integer().notNull(),
    isHard: integer({ mode: 'boolean' }).notNull(),
    thresholds: text({ mode: 'json' }).$type<number[]>().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** When its periods begin; null for those of UTC. */
    calendar: text({ mode: 'json' }).$type<SpendCalendar | null>(),
    fired: text({ mode: 'json' }).$type<FiredThreshold[]>().notNull(),
  },
  ({ workspaceId, id }) => [primaryKey({ columns: [workspaceId, id] })],
);

type Row = typeof budgets.$inferSelect;

function budgetRecord({ scope, scopeValue, calendar, ...row }: Row): BudgetRecord {
  return { ...row, scope: { kind: scope, value: scopeValue }, ...(calendar && { calendar }) };
}

function budgetRow({ scope, thresholds, calendar, ...record }: BudgetRecord): Row {
  return {
    ...record,
    thresholds: [...thresholds],
    scope: scope.kind,
    scopeValue: scope.value,
    calendar: calendar ?? null,
  };
}

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
