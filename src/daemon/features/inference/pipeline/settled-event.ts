import { formatUsd } from '../../../../shared/money.ts';
import type { Settlement, UsageRecord } from '../../metering/index.ts';

/** What those who follow the events are told of a finished call; it is kept with the settlement. */
export function settledEvent(usage: UsageRecord): Settlement['event'] {
  const type = usage.status === 'failed' ? 'request.failed' : 'request.completed';
  return {
    type,
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
