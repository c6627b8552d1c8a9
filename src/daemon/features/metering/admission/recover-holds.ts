import { costWithin } from '../../../../shared/money/money.ts';
import type { LeftHold, MeteringStore, Settlement } from '../store.ts';
import { usageRecord } from '../usage/usage-record.ts';
import { settlementFor } from './settlement.ts';

interface RecoverOptions {
  store: Pick<MeteringStore, 'leftHolds' | 'settle'>;
  now: () => number;
  /** In millionths. */
  marginPpm: number;
  /** Whose calls are settled. */
  daemon: number;
}

/**
 * Settles the calls that were running when a daemon died: charges their last stored progress, or else the estimate of the
 * prompt, and releases the rest of the hold. Returns their number.
 */
export async function recoverHolds({ store, now, marginPpm, daemon }: RecoverOptions): Promise<number> {
  const left = await store.leftHolds(daemon);
  await Promise.all(left.map((hold) => store.settle(interrupted(hold, { at: now(), marginPpm }))));
  return left.length;
}

function interrupted(hold: LeftHold, { at, marginPpm }: { at: number; marginPpm: number }): Settlement {
  const usage = usageRecord(hold, {
    status: 'interrupted',
    errorCode: 'server_error',
    provider: hold.provider,
    tokens: hold.progressTokens ?? hold.promptEstimate,
    tokensReported: false,
    cost: costWithin(hold.progressCost ?? hold.promptCost, marginPpm),
    prices: null,
    cache: null,
    httpStatus: null,
    attempts: [],
    ttftMs: null,
    totalMs: Math.max(0, at - hold.createdAt),
    completedAt: at,
  });
  const settlement = settlementFor(usage);
  // Only a call that an agent's credit pays for holds money.
  const isPaidByAgent = settlement.caller === 'agent' && hold.amount > 0;
  return isPaidByAgent ? { ...settlement, tier: 'paid' } : settlement;
}
