import { ApiError } from '../../../shared/errors.ts';
import type { HoldRecord, MeteringStore, Settlement } from './metering-store.ts';

/** A call's money, set aside. */
export interface Hold {
  record: HoldRecord;
  /** Resolves when the hold is on disk: before that, no byte of an answer may reach the client. */
  committed: Promise<void>;
  /** Until it is settled, or could not be written. */
  isRunning: boolean;
}

/**
 * Decides whether a call may begin and keeps the books of those that run. In memory within one process; a port, so
 * that several processes can share a decision later.
 */
export interface Admission {
  /** Admits the call at once; the record is written behind. */
  hold(record: HoldRecord): Promise<Hold>;
  /**
   * Ends a hold exactly once; resolves to its event's sequence when the settlement is on disk. One that nothing could
   * be written of is tried again once something can.
   */
  settle(hold: Hold, settlement: Settlement): Promise<number>;
  /** Calls that are admitted and not settled yet. */
  running(): number;
}

export interface AdmissionNeeds {
  store: Pick<MeteringStore, 'hold' | 'settle'>;
  /** Whether the ledger takes writes now. */
  state: () => { writable: boolean; reason: string | undefined };
}

/** Settlements that wait for a full disk are kept up to here; those beyond are made at the next start. */
const lateMax = 10_000;

export function createAdmission({ store, state }: AdmissionNeeds): Admission {
  let running = 0;
  let late: Settlement[] = [];
  const end = (hold: Hold) => {
    if (hold.isRunning) running -= 1;
    hold.isRunning = false;
  };
  const settle = async (settlement: Settlement): Promise<number> => {
    try {
      return await store.settle(settlement);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unavailable' && late.length < lateMax)
        late.push(settlement);
      throw error;
    }
  };
  const settleLate = () => {
    if (late.length === 0) return;
    const again = late;
    late = [];
    for (const settlement of again) settle(settlement).catch(() => {});
  };
  return {
    async hold(record) {
      const { writable, reason } = state();
      if (!writable)
        throw new ApiError('unavailable', { message: `The ledger cannot be written: ${reason}` });
      const hold: Hold = { record, committed: store.hold(record), isRunning: true };
      running += 1;
      // Whoever waits for the hold hears of its failure; until then it must not count as unhandled.
      hold.committed.then(settleLate, () => end(hold));
      return hold;
    },
    async settle(hold, settlement) {
      end(hold);
      return settle(settlement);
    },
    running: () => running,
  };
}
