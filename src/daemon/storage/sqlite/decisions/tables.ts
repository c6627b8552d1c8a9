import type { Calibration } from '../../../features/decisions/index.ts';
import { integer, primaryKey, real, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `Calibration`. */
export const decisionCalibrations = sqliteTable(
  'decision_calibrations',
  {
    model: text().notNull(),
    type: text().$type<Calibration['type']>().notNull(),
    temperature: real().notNull(),
    examples: integer().notNull(),
    nllBefore: real().notNull(),
    nllAfter: real().notNull(),
    fittedAt: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.model, table.type] })],
);

/** The cost of decisions to the host, in nano-dollars, by UTC day. */
export const decisionDays = sqliteTable('decision_days', {
  day: text().primaryKey(),
  cost: integer().notNull(),
});
