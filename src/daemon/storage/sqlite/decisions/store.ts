import type { DecisionsStore } from '../../../features/decisions/index.ts';
import { asc, eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { decisionCalibrations, decisionDays } from './tables.ts';
import type { DecisionsWrites } from './writes.ts';

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
