import { ApiError } from '../../../shared/errors.ts';
import type { NanoUsd } from '../../../shared/money.ts';
import { Budgets, type BudgetsNeeds, type HoldTerms, type KeyUse, type OpenCall } from './budgets.ts';
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
  /**
   * Admits the call at once; the record is written behind. The hold's amount may be less than asked, as the terms say.
   * Fails with `limit_reached`, `insufficient_balance` or `unavailable`.
   */
  hold(record: HoldRecord, terms?: HoldTerms): Promise<Hold>;
  /**
   * Ends a hold exactly once; resolves to its event's sequence when the settlement is on disk. One that nothing could
   * be written of is tried again once something can.
   */
  settle(hold: Hold, settlement: Settlement): Promise<number>;
  /** Calls that are admitted and not settled yet. */
  running(): number;
  /** What a key and those that it issued have used, running calls not charged yet. */
  usedBy(keyId: string): Promise<KeyUse>;
  /** What a workspace that pays in advance has, what is held included. */
  balanceOf(workspaceId: string): Promise<NanoUsd>;
  /** To be called with credit that is on disk, after `balanceOf` was asked before it was written. */
  credited(workspaceId: string, amount: NanoUsd): void;
  /** Requests whose end is not on disk yet. */
  openRequests(): Set<string>;
}

export interface AdmissionNeeds {
  store: Pick<MeteringStore, 'hold' | 'settle'>;
  /** Whether the ledger takes writes now. */
  state: () => { writable: boolean; reason: string | undefined };
  /** What limits and balances are decided by; without it nothing is limited. */
  limits?: Pick<BudgetsNeeds, 'ledger' | 'clock'>;
}

/** Settlements that wait for a full disk are kept up to here; those beyond are made at the next start. */
const lateMax = 10_000;

type Call = Hold & OpenCall;

export function createAdmission({ store, state, limits }: AdmissionNeeds): Admission {
  const open = new Set<Call>();
  const budgets = limits && new Budgets({ ...limits, open });
  let running = 0;

  const end = (call: Call) => {
    if (!call.isRunning) return;
    running -= 1;
    call.isRunning = false;
    budgets?.released(call);
  };
  const settling = settlements(store, open);
  const begin = (record: HoldRecord, policy: OpenCall['policy']): Hold => {
    const committed = store.hold(record);
    const call: Call = { record, committed, isRunning: true, policy, charged: undefined };
    running += 1;
    open.add(call);
    budgets?.held(call);
    // Whoever waits for the hold hears of its failure; until then it must not count as unhandled.
    committed.then(settling.again, () => {
      end(call);
      if (!call.charged) open.delete(call);
    });
    return call;
  };
  const refuseUnwritable = () => {
    const { writable, reason } = state();
    if (!writable) throw new ApiError('unavailable', { message: `The ledger cannot be written: ${reason}` });
  };

  const withBudgets = (): Budgets => {
    if (!budgets) throw new TypeError('this admission keeps no limits');
    return budgets;
  };

  return {
    async hold(record, terms) {
      refuseUnwritable();
      if (!budgets || !terms || !(terms.isPrepaid || terms.policy?.isRestricted)) {
        return begin(record, terms?.policy);
      }
      await budgets.ready(terms, record.workspaceId);
      const amount = budgets.admit(record, terms);
      return begin({ ...record, amount, ...(terms.isPrepaid && { isPrepaid: true }) }, terms.policy);
    },
    async settle(hold, settlement) {
      const call = hold as Call;
      const { charged, completedAt } = settlement.usage;
      end(call);
      open.add(call);
      call.charged = { amount: charged, at: completedAt };
      budgets?.charged(call, charged, completedAt);
      return settling.settle(call, hold.record.isPrepaid ? { ...settlement, isPrepaid: true } : settlement);
    },
    running: () => running,
    usedBy: (keyId) => withBudgets().usedBy(keyId),
    balanceOf: (workspaceId) => withBudgets().balanceOf(workspaceId),
    credited: (workspaceId, amount) => budgets?.credited(workspaceId, amount),
    openRequests: () => new Set([...open].map(({ record }) => record.requestId)),
  };
}

/** Writes settlements; those that nothing could be written of wait for the next hold that is. */
function settlements(store: AdmissionNeeds['store'], open: Set<Call>) {
  let late: [call: Call, settlement: Settlement][] = [];
  const settle = async (call: Call, settlement: Settlement): Promise<number> => {
    try {
      const sequence = await store.settle(settlement);
      open.delete(call);
      return sequence;
    } catch (error) {
      const isLate = error instanceof ApiError && error.code === 'unavailable' && late.length < lateMax;
      // Its caller is told of a failure: the answer would only take memory.
      if (isLate) late.push([call, { ...settlement, answer: undefined }]);
      else open.delete(call);
      throw error;
    }
  };
  const again = () => {
    if (late.length === 0) return;
    const waiting = late;
    late = [];
    for (const [call, settlement] of waiting) settle(call, settlement).catch(() => {});
  };
  return { settle, again };
}
