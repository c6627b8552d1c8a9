/**
 * Ticks at even intervals from a separate thread. Timers of the event loop are rounded to a millisecond, which is
 * more than a gateway adds; waiting on a cell of shared memory is exact to some ten microseconds.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Metronome {
  stop(): Promise<void>;
}

/** `onBeat` may be called late, once for several beats: the caller reads its own clock. */
export function startMetronome(perSecond: number, onBeat: () => void): Metronome {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: { cell, intervalMs: 1000 / perSecond } });
  worker.on('message', onBeat);
  return {
    async stop() {
      Atomics.store(cell, 0, 1);
      Atomics.notify(cell, 0);
      await worker.terminate();
    },
  };
}

function beat({ cell, intervalMs }: { cell: Int32Array; intervalMs: number }): void {
  let next = performance.now();
  while (Atomics.load(cell, 0) === 0) {
    parentPort?.postMessage(undefined);
    next += intervalMs;
    const wait = next - performance.now();
    if (wait > 0) Atomics.wait(cell, 0, 0, wait);
  }
}

if (!isMainThread) beat(workerData);
