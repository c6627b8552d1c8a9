import { totalmem } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Log } from './options.ts';
import type { Overload } from './overload.ts';

/** How often the process is looked at, and how often within that time the event loop's delay is measured. */
const lookEveryMs = 1_000;
const resolutionMs = 50;

export interface WatchLoadOptions {
  overload: Overload;
  log: Log;
  isDiskFull: () => boolean;
  /** Open connections and how many are accepted; undefined where that is not bounded. */
  connections: () => { open: number; max: number | undefined };
}

/** Looks at the process once a second until the function that it returns is called. */
export function watchLoad({ overload, log, isDiskFull, connections }: WatchLoadOptions): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  // Within a container the system's memory is not ours to fill.
  const memoryMax = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  const timer = setInterval(() => {
    const { open, max } = connections();
    const sample = {
      loopDelayMs: Math.max(0, delay.percentile(99) / 1e6 - resolutionMs),
      memoryShare: process.memoryUsage.rss() / memoryMax,
      connectionsShare: max === undefined ? 0 : open / max,
      isDiskFull: isDiskFull(),
    };
    delay.reset();
    if (!overload.look(sample)) return;
    if (overload.load === 'well') log.info(sample, 'the load is well again');
    else log.warn(sample, `the daemon is ${overload.load}: new calls are refused`);
  }, lookEveryMs).unref();
  return () => {
    clearInterval(timer);
    delay.disable();
  };
}
