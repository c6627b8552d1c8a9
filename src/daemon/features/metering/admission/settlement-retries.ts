import { ApiError } from '../../../../shared/errors.ts';
import type { Settlement } from '../store.ts';

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
