import { isMainThread } from 'node:worker_threads';
import type { Storage } from '../storage/storage.ts';
import type { MainThreadWatch } from '../worker-threads/watch-main-thread.ts';

export type HangLimits = Pick<MainThreadWatch, 'cpuMsMax' | 'everyMs'>;

/** Far more than any task of a healthy daemon takes. */
export const defaultHangLimits: HangLimits = { cpuMsMax: 30_000, everyMs: 5_000 };

/** Has the process end with code 70 if the main thread never comes back to its loop, until the returned function is called. */
export function watchTurns(
  storage: Pick<Storage, 'watchMainThread'>,
  options: HangLimits & { logFile: string },
): () => void {
  if (!isMainThread) return () => {};
  const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  storage.watchMainThread({ turns, ...options });
  const timer = setInterval(() => Atomics.add(turns, 0, 1), options.everyMs).unref();
  return () => clearInterval(timer);
}
