import type { EventView } from '../../shared/contract/events.ts';
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

/** Gets the events of finished and rejected calls, with the member `key_name`. */
export interface CallLog {
  /** Whether finished calls are wanted now; rejected ones always are. */
  wantsFinished(): boolean;
  write(call: EventView): void;
}

interface CallLogOptions {
  log: PinoLog;
  /** Where lines are written, at the level of `log`. */
  target: Pick<PinoLog, 'info' | 'warn'>;
  /** Shows calls on the terminal. */
  show: ((call: EventView) => void) | undefined;
}

/** Writes a line per call: finished ones at level `info`, rejected ones at level `warn`. */
export function createCallLog({ log, target, show }: CallLogOptions): CallLog {
  return {
    wantsFinished: () => show !== undefined || log.isLevelEnabled('info'),
    write(call) {
      show?.(call);
      const isRejected = call.type === 'request.rejected';
      const level = isRejected ? 'warn' : 'info';
      if (!log.isLevelEnabled(level)) return;
      const { key, ...members } = call.data;
      target[level]({ ...members, key_id: key }, isRejected ? 'call rejected' : 'call finished');
    },
  };
}
