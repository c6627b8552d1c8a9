import { costWithin } from '../../../shared/money.ts';
import { settlementFor } from './settlement.ts';
import type { LeftHold, MeteringStore, Settlement, UsageRecord } from './store.ts';

interface RecoverOptions {
  store: Pick<MeteringStore, 'leftHolds' | 'settle'>;
  now: () => number;
  /** In millionths. */
  marginPpm: number;
}

/**
 * Settles the calls that were running when an earlier daemon died: charges their last stored progress, or else the
 * estimate of the prompt, and releases the rest of the hold. Returns their number. To be called before the first call.
 */
export async function recoverHolds({ store, now, marginPpm }: RecoverOptions): Promise<number> {
  const left = await store.leftHolds();
  await Promise.all(left.map((hold) => store.settle(interrupted(hold, { at: now(), marginPpm }))));
  return left.length;
}

function interrupted(hold: LeftHold, { at, marginPpm }: { at: number; marginPpm: number }): Settlement {
  const cost = costWithin(hold.progressCost ?? hold.promptCost, marginPpm);
  const charged = hold.ownKey ? 0 : Math.min(cost.total, hold.amount);
  const usage: UsageRecord = {
    requestId: hold.requestId,
    responseId: null,
    workspaceId: hold.workspaceId,
    keyId: hold.keyId,
    endpoint: hold.endpoint,
    model: hold.model,
    provider: hold.provider,
    streamed: hold.streamed,
    ownKey: hold.ownKey,
    status: 'interrupted',
    errorCode: 'server_error',
    tokens: hold.progressTokens ?? hold.promptEstimate,
    tokensReported: false,
    cost,
    charged,
    attempts: [],
    ttftMs: null,
    totalMs: Math.max(0, at - hold.createdAt),
    createdAt: hold.createdAt,
    completedAt: at,
  };
  const settlement = settlementFor(usage);
  // Only a call that an agent's credit pays for holds money.
  const isPaidByAgent = settlement.caller === 'agent' && hold.amount > 0;
  return isPaidByAgent ? { ...settlement, tier: 'paid' } : settlement;
}
