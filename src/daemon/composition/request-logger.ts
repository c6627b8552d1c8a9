import type { FinishedRequest } from '../http/server-options.ts';
import type { createLog } from '../process/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** Counts every answer, and tells it to whoever logs that much. */
export function requestLogger(
  log: ReturnType<typeof createLog>,
  telemetry: Telemetry,
): (finished: FinishedRequest) => void {
  return (finished) => {
    telemetry.answered(finished);
    if (!log.isLevelEnabled('info')) return;
    const { requestId, endpoint, status, durationMs, aborted, caller } = finished;
    const details = {
      request_id: requestId,
      endpoint: endpoint?.id ?? null,
      status,
      ms: Math.round(durationMs),
      key_id: caller.kind === 'key' ? caller.keyId : null,
      aborted,
    };
    log.info(details, 'answered');
  };
}
