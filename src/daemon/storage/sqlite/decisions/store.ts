import type { Calibration, DecisionsStore } from '../../../features/decisions/index.ts';
import { and, asc, eq, integer, type Orm, primaryKey, real, sql, sqliteTable, text } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';

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

export function decisionsStore({ orm, writer }: StoreContext<DecisionsWrites>): DecisionsStore {
  return {
    calibrations: async () =>
      orm
        .select()
        .from(decisionCalibrations)
        .orderBy(asc(decisionCalibrations.model), asc(decisionCalibrations.type))
        .all(),
    saveCalibration: (calibration) => writer.write('decisions.saveCalibration', calibration),
    removeCalibration: (of) => writer.write('decisions.removeCalibration', of),
    spentOn: async (day) =>
      orm.select({ cost: decisionDays.cost }).from(decisionDays).where(eq(decisionDays.day, day)).get()
        ?.cost ?? 0,
    spend: (day, amount) => writer.write('decisions.spend', { day, amount }),
  };
}

export function decisionsWrites(orm: Orm) {
  return {
    'decisions.saveCalibration': (calibration: Calibration): void => {
      orm
        .insert(decisionCalibrations)
        .values(calibration)
        .onConflictDoUpdate({
          target: [decisionCalibrations.model, decisionCalibrations.type],
          set: calibration,
        })
        .run();
    },
    'decisions.removeCalibration': ({ model, type }: Pick<Calibration, 'model' | 'type'>): boolean => {
      const isMeant = and(eq(decisionCalibrations.model, model), eq(decisionCalibrations.type, type));
      return orm.delete(decisionCalibrations).where(isMeant).run().changes > 0;
    },
    'decisions.spend': ({ day, amount }: { day: string; amount: number }): void => {
      orm
        .insert(decisionDays)
        .values({ day, cost: amount })
        .onConflictDoUpdate({
          target: decisionDays.day,
          set: { cost: sql`${decisionDays.cost} + excluded.cost` },
        })
        .run();
    },
  };
}

export type DecisionsWrites = ReturnType<typeof decisionsWrites>;
