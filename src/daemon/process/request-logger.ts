import type { FinishedRequest } from '../http/server-options.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Log } from './log.ts';

/** Counts every finished request and logs it at level `info`. */
export function requestLogger(log: Log, telemetry: Telemetry): (request: FinishedRequest) => void {
  return (request) => {
    telemetry.answered(request);
    if (!log.isLevelEnabled('info')) return;
    const { requestId, endpoint, status, durationMs, aborted, caller } = request;
    const details = {
      request_id: requestId,
      endpoint: endpoint?.id ?? null,
      status,
      ms: Math.round(durationMs),
      key_id: caller.kind === 'key' ? caller.keyId : null,
      aborted,
    };
    log.info(details, 'request finished');
  };
}
