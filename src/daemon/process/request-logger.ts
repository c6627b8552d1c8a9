import type { FinishedRequest } from '../http/server-options.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { PinoLog } from './create-log.ts';

interface RequestLoggerOptions {
  log: PinoLog;
  telemetry: Telemetry;
  /** Whether the request has a line already, as a model call. */
  isLogged(request: FinishedRequest): boolean;
}

/** Counts every finished request and logs it at level `info`. */
export function requestLogger({ log, telemetry, isLogged }: RequestLoggerOptions) {
  return (request: FinishedRequest): void => {
    telemetry.answered(request);
    if (!log.isLevelEnabled('info') || isLogged(request)) return;
    const { requestId, endpoint, status, durationMs, aborted, caller, failure } = request;
    const details = {
      request_id: requestId,
      endpoint: endpoint?.id ?? null,
      http_status: status,
      error_code: failure?.error?.code ?? null,
      total_ms: Math.round(durationMs),
      key_id: caller.kind === 'key' ? caller.keyId : null,
      aborted,
    };
    log.info(details, 'request finished');
  };
}
