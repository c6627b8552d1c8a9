import type { SpendCalendar } from '../../../../shared/money/spend-periods.ts';
import type { FiredThreshold } from '../../../features/budgets/store.ts';
import type { BudgetRule } from '../../../features/metering/index.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

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
