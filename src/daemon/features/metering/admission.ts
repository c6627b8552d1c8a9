import { ApiError } from '../../../shared/errors.ts';
import type { HoldRecord, MeteringStore, Settlement } from './metering-store.ts';

/** A call's money, set aside. */
export interface Hold {
  record: HoldRecord;
  /** Resolves when the hold is on disk: before that, no byte of an answer may reach the client. */
  committed: Promise<void>;
}

/**
 * Decides whether a call may begin and keeps the books of those that run. In memory within one process; a port, so
 * that several processes can share a decision later.
 */
export interface Admission {
  /** Admits the call at once; the record is written behind. */
  hold(record: HoldRecord): Promise<Hold>;
  /** Ends a hold exactly once; resolves to its event's sequence when the settlement is on disk. */
  settle(hold: Hold, settlement: Settlement): Promise<number>;
  /** Calls that are admitted and not settled yet. */
  running(): number;
}

export interface AdmissionNeeds {
  store: Pick<MeteringStore, 'hold' | 'settle'>;
  /** Whether the ledger takes writes now. */
  state: () => { writable: boolean; reason: string | undefined };
}

export function createAdmission({ store, state }: AdmissionNeeds): Admission {
  const held = new Map<string, Hold>();
  return {
    async hold(record) {
      const { writable, reason } = state();
      if (!writable)
        throw new ApiError('unavailable', { message: `The ledger cannot be written: ${reason}` });
      const committed = store.hold(record);
      // Whoever waits for the hold hears of its failure; until then it must not count as unhandled.
      committed.catch(() => held.delete(record.requestId));
      const hold = { record, committed };
      held.set(record.requestId, hold);
      return hold;
    },
    async settle(hold, settlement) {
      held.delete(hold.record.requestId);
      return store.settle(settlement);
    },
    running: () => held.size,
  };
}
