import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';

/** Both semi-spaces together. Larger ones save little CPU, and V8 keeps them once a busy minute has made them grow. */
const bytesMax = 32 * 1024 * 1024;
/** The share of its time that the event loop is busy while calls come. At rest, what V8 starts with is enough. */
const busyFrom = 0.05;
const checkEveryMs = 250;

interface Observed {
  v8: Pick<typeof v8, 'getHeapSpaceStatistics' | 'setFlagsFromString'>;
  eventLoopUtilization: typeof performance.eventLoopUtilization;
}

interface YoungGeneration {
  /** Lets it grow under load, until the returned function is called. A start is busy, too, but allocates mostly what stays. */
  adapt(): () => void;
  asAtStart<T>(task: () => T): T;
}

/**
 * Bounds V8's young generation, which would grow to 128 MiB, and to 32 by the start alone. `--max-semi-space-size` is read only
 * when a process starts, and starting another one costs 40 ms; the factor by which the generation grows is read each time.
 * `asAtStart` runs a task with the options that the start has: V8 rejects code that was cached with others.
 */
export function boundYoungGeneration(
  engine: Observed = { v8, eventLoopUtilization: performance.eventLoopUtilization },
): YoungGeneration {
  let canGrow = true;
  const letGrow = (grows: boolean): void => {
    if (grows === canGrow) return;
    canGrow = grows;
    engine.v8.setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
  };
  letGrow(false);
  return {
    adapt() {
      let last = engine.eventLoopUtilization();
      const check = (): void => {
        const now = engine.eventLoopUtilization();
        const { utilization } = engine.eventLoopUtilization(now, last);
        last = now;
        const young = engine.v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
        letGrow(utilization >= busyFrom && (young?.space_size ?? 0) < bytesMax);
      };
      const timer = setInterval(check, checkEveryMs).unref();
      return () => {
        clearInterval(timer);
        letGrow(false);
      };
    },
    asAtStart(task) {
      const couldGrow = canGrow;
      letGrow(false);
      try {
        return task();
      } finally {
        letGrow(couldGrow);
      }
    },
  };
}
