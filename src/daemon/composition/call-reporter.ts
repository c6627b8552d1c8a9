import { isoTime } from '../../shared/time.ts';
import type { CallObserver } from '../features/calls/index.ts';
import type { NewEvent } from '../features/events/index.ts';
import { settledEvent } from '../features/metering/index.ts';
import { type Rejection, rejectionEvent } from '../features/traces/index.ts';
import type { CallLog } from '../process/call-log.ts';

/** Reports calls to the log. */
export function createCallReporter(log: CallLog, keyNameOf: (keyId: string) => string | undefined) {
  const write = ({ type, at, data }: NewEvent): void => {
    const keyName = typeof data.key === 'string' ? (keyNameOf(data.key) ?? data.key) : null;
    log.write({ type, sequence: null, created_at: isoTime(at), data: { ...data, key_name: keyName } });
  };
  return {
    onSettled(usage) {
      if (log.wantsFinished()) write(settledEvent(usage));
    },
    onRecorded: (rejection: Rejection): void => write(rejectionEvent(rejection)),
  } satisfies CallObserver & { onRecorded(rejection: Rejection): void };
}
