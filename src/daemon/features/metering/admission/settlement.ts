import { ApiError } from '../../../../shared/errors.ts';
import { formatUsd } from '../../../../shared/money/money.ts';
import type { NewEvent } from '../../events/index.ts';
import type { SlotAnswer } from '../../idempotency/index.ts';
import type { LedgerEntry, Settlement, UsageRecord } from '../store.ts';

/** Everything that is written when a call ends. `answer` is stored for its Idempotency-Key. */
export function settlementFor(usage: UsageRecord, answer?: SlotAnswer): Settlement {
  return {
    usage,
    entries: ledgerEntriesFor(usage),
    caller: isAgent(usage.keyId) ? 'agent' : 'key',
    tier: usage.charged > 0 || usage.ownKey ? 'paid' : 'free',
    ...(answer && { answer }),
  };
}

/** Agents call with their own id in place of a key's. */
function isAgent(keyId: string | null): boolean {
  return keyId?.startsWith('agt_') ?? false;
}

/** The double entries of a charge: the provider's share, then the margin. Empty for a call without charge. */
function ledgerEntriesFor({ charged, cost, workspaceId, provider }: UsageRecord): LedgerEntry[] {
  if (charged === 0 || !cost) return [];
  const debit = `workspace:${workspaceId}`;
  const providerAmount = Math.min(cost.provider, charged);
  const entries: LedgerEntry[] = [
    {
      kind: 'provider_cost',
      debit,
      credit: `provider:${provider ?? 'unknown'}`,
      amount: providerAmount,
    },
    { kind: 'margin', debit, credit: 'margin', amount: charged - providerAmount },
  ];
  return entries.filter(({ amount }) => amount > 0);
}

/** The event `request.completed` or `request.failed` of a finished call. */
export function settledEvent(usage: UsageRecord): NewEvent {
  const hasFailed = usage.status === 'failed' || usage.status === 'interrupted';
  return {
    type: hasFailed ? 'request.failed' : 'request.completed',
    workspaceId: usage.workspaceId,
    at: usage.completedAt,
    data: {
      request_id: usage.requestId,
      response_id: usage.responseId,
      endpoint: usage.endpoint,
      model: usage.model,
      provider: usage.provider,
      key: usage.keyId,
      streamed: usage.streamed,
      status: usage.status,
      error_code: usage.errorCode,
      ...(hasFailed && { message: usage.attempts.findLast(({ message }) => message)?.message ?? null }),
      input_tokens: usage.tokens.input,
      output_tokens: usage.tokens.output,
      cost_usd: usage.cost && formatUsd(usage.cost.total),
      charged_usd: formatUsd(usage.charged),
      attempts: usage.attempts.length,
      ttft_ms: usage.ttftMs,
      total_ms: usage.totalMs,
    },
  };
}

/** Unwritten settlements kept in memory at most; the daemon settles the others at its next start. */
const lateMax = 10_000;

/**
 * Writes settlements with `write`, and calls `close` with each call whose settlement is on disk or given up. Those that fail
 * while the ledger is unavailable wait for `retry`, which follows the next successful hold.
 */
export function settlementRetries<Call>(
  write: (settlement: Settlement, call: Call) => Promise<number>,
  close: (call: Call) => void,
) {
  let late: [call: Call, settlement: Settlement][] = [];
  const settle = (call: Call, settlement: Settlement): Promise<number> =>
    write(settlement, call).then(
      (sequence) => {
        close(call);
        return sequence;
      },
      (error: unknown) => {
        const isLate = error instanceof ApiError && error.code === 'unavailable' && late.length < lateMax;
        // The client gets an error, so the answer to store is dropped.
        if (isLate) late.push([call, { ...settlement, answer: undefined }]);
        else close(call);
        throw error;
      },
    );
  const retry = () => {
    if (late.length === 0) return;
    const waiting = late;
    late = [];
    for (const [call, settlement] of waiting) settle(call, settlement).catch(() => {});
  };
  return { settle, retry };
}
