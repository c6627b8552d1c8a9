import type { EventView } from '../../shared/contract/events.ts';
import type { PinoLog } from './create-log.ts';

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
