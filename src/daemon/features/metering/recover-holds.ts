import { costWithin, formatUsd } from '../../../shared/money.ts';
import type { LedgerEntry, LeftHold, MeteringStore, Settlement, UsageRecord } from './metering-store.ts';

interface RecoverOptions {
  store: Pick<MeteringStore, 'leftHolds' | 'settle'>;
  now: () => number;
  /** In millionths. */
  marginPpm: number;
}

/**
 * Settles the calls that were running when an earlier daemon died: what was last written of their progress is charged,
 * else the estimate of the prompt, and the rest of the hold is let go. Resolves to how many there were. To be called
 * before the first call is taken.
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
  const debit = `workspace:${hold.workspaceId}`;
  const provider = Math.min(cost.provider, charged);
  const entries: LedgerEntry[] = [
    { kind: 'provider_cost', debit, credit: `provider:${hold.provider ?? 'unknown'}`, amount: provider },
    { kind: 'margin', debit, credit: 'margin', amount: charged - provider },
  ];
  return {
    usage,
    entries: entries.filter((entry) => entry.amount > 0),
    caller: 'key',
    tier: charged > 0 || hold.ownKey ? 'paid' : 'free',
    event: {
      type: 'request.failed',
      workspaceId: hold.workspaceId,
      at,
      data: {
        request_id: hold.requestId,
        endpoint: hold.endpoint,
        model: hold.model,
        provider: hold.provider,
        key: hold.keyId,
        streamed: hold.streamed,
        status: 'interrupted',
        charged_usd: formatUsd(charged),
      },
    },
  };
}
