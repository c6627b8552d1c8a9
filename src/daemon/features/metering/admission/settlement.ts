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
