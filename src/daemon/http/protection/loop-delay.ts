import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** The share of its time that the loop is busy. One that has less to do is never late for long. */
const busyFrom = 0.1;
const resolutionMs = 50;

interface Engine {
  histogram: Pick<ReturnType<typeof monitorEventLoopDelay>, 'enable' | 'disable' | 'reset' | 'percentile'>;
  eventLoopUtilization: typeof performance.eventLoopUtilization;
}

/**
 * Measures how late the event loop is, while it is busy: measuring wakes the process twenty times a second, which keeps the cores of a
 * laptop from resting.
 */
export class LoopDelay {
  readonly #engine: Engine;
  #last;

  constructor(
    engine: Engine = {
      histogram: monitorEventLoopDelay({ resolution: resolutionMs }),
      eventLoopUtilization: performance.eventLoopUtilization,
    },
  ) {
    this.#engine = engine;
    this.#last = engine.eventLoopUtilization();
  }

  /** The 99th percentile since the last look, in milliseconds; 0 if the loop had not been busy before that. */
  look(): number {
    const { histogram, eventLoopUtilization } = this.#engine;
    const now = eventLoopUtilization();
    const { utilization } = eventLoopUtilization(now, this.#last);
    this.#last = now;
    const delayMs = Math.max(0, histogram.percentile(99) / 1e6 - resolutionMs);
    histogram.reset();
    if (utilization >= busyFrom) histogram.enable();
    else histogram.disable();
    return delayMs;
  }

  stop(): void {
    this.#engine.histogram.disable();
  }
}
