import type { Calibration } from '../../../features/decisions/index.ts';
import { and, eq, type Orm, sql } from '../engine/orm.ts';
import { decisionCalibrations, decisionDays } from './tables.ts';

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
