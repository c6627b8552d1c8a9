import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import { collectGarbage } from '../worker-threads/collect-garbage.ts';

/** V8 runs a full collection when the heap has grown by this much since the last one, instead of by up to 300 %. */
const growthPercent = 50;
/** The same until the heap is large once: code that calls compile would fill what 50 % leave, and its collection cost the first calls a tenth. */
const firstGrowthPercent = 150;
const largeHeapBytes = 40 * 1024 * 1024;
/** The first version of V8 that can keep optimized code; that of Node 22 is 12. */
const keepsCodeSince = 13;
/** Of the young generation, both semi-spaces together. Larger ones save little CPU, and V8 keeps them once a busy minute has made them grow. */
const youngBytesMax = 32 * 1024 * 1024;
/** The share of its time that the event loop is busy while calls come. At rest, the young generation that V8 starts with is enough. */
const busyFrom = 0.05;
const checkEveryMs = 250;
/** After so many busy checks, a forced collection would cost more than the garbage of the start: it throws compiled code away. */
const busyChecksMax = 8;

interface Engine {
  v8: Pick<typeof v8, 'getHeapSpaceStatistics' | 'setFlagsFromString'>;
  v8Version: string;
  eventLoopUtilization: typeof performance.eventLoopUtilization;
  collectGarbage: () => void;
}

interface HeapOptions {
  /** Applies them until the returned function is called. */
  apply(): () => void;
  /** Runs a task that loads or stores compiled code, with V8's own options. */
  suspend<T>(task: () => T): T;
  /** The same for what takes longer: until the returned function is called. */
  hold(): () => void;
}

/**
 * Options of V8 that keep the heap small and collections rare, for all threads. V8 reads them each time, so that no other process has to be started,
 * which costs 40 ms. It rejects code that was cached with other options, also the code of Node's own modules, which then takes
 * twice as long to load: they are applied while calls are served, not at the start and at the stop.
 */
export function heapOptions(
  engine: Engine = {
    v8,
    v8Version: process.versions.v8,
    eventLoopUtilization: performance.eventLoopUtilization,
    collectGarbage,
  },
): HeapOptions {
  const set = (option: string) => engine.v8.setFlagsFromString(option);
  const keepsCode = Number.parseInt(engine.v8Version, 10) >= keepsCodeSince;
  let isServing = false;
  let holds = 0;
  let areSet = false;
  /** Without a bound, the young generation would grow to 128 MiB. */
  let canGrow = true;
  let wasLarge = false;
  let hasRested = false;
  let busyChecks = 0;
  const setAll = (): void => {
    set(`--heap-growing-percent=${areSet ? (wasLarge ? growthPercent : firstGrowthPercent) : 0}`);
    // What a call allocates survives collections while the call waits. V8 would take it for long-lived and allocate it in the old
    // generation, where it keeps all that it refers to until a full collection: the closed loop took 40 % more CPU.
    set(areSet ? '--no-allocation-site-pretenuring' : '--allocation-site-pretenuring');
    // To save memory, V8 would forget the shapes of objects of which none exists eight seconds after a burst of calls, and with
    // them all code that it optimized for them: the next thousand calls took twice the CPU.
    if (keepsCode) set(areSet ? '--no-memory-reducer-favors-memory' : '--memory-reducer-favors-memory');
    set(`--semi-space-growth-factor=${areSet && !canGrow ? 1 : 2}`);
  };
  const change = (): void => {
    const areWanted = isServing && holds === 0;
    if (areSet === areWanted) return;
    areSet = areWanted;
    setAll();
  };
  const hold = (): (() => void) => {
    holds += 1;
    change();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      holds -= 1;
      change();
    };
  };
  return {
    apply() {
      canGrow = false;
      isServing = true;
      change();
      let last = engine.eventLoopUtilization();
      const check = (): void => {
        const now = engine.eventLoopUtilization();
        const { utilization } = engine.eventLoopUtilization(now, last);
        last = now;
        const isBusy = utilization >= busyFrom;
        // At rest, nothing changes.
        if (!isBusy && hasRested && !canGrow) return;
        const spaces = engine.v8.getHeapSpaceStatistics();
        const young = spaces.find(({ space_name: name }) => name === 'new_space');
        const heapBytes = spaces.reduce((sum, { space_used_size: used }) => sum + used, 0);
        // The start leaves 12 MB of garbage, which no later collection would find soon.
        if (isBusy) busyChecks += 1;
        else if (!hasRested && busyChecks <= busyChecksMax) engine.collectGarbage();
        hasRested ||= !isBusy;
        const [couldGrow, hadBeenLarge] = [canGrow, wasLarge];
        canGrow = isBusy && (young?.space_size ?? 0) < youngBytesMax;
        wasLarge ||= heapBytes > largeHeapBytes;
        if (canGrow !== couldGrow || wasLarge !== hadBeenLarge) setAll();
      };
      const timer = setInterval(check, checkEveryMs).unref();
      return () => {
        clearInterval(timer);
        isServing = false;
        change();
      };
    },
    hold,
    suspend(task) {
      const release = hold();
      try {
        return task();
      } finally {
        release();
      }
    },
  };
}
