import { totalmem } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Log } from '../server-options.ts';

/** What one look at the process found. */
export interface LoadSample {
  /** 99th percentile of the event loop's delay since the last look, in milliseconds. */
  loopDelayMs: number;
  /** Resident memory, of what the process may have. */
  memoryShare: number;
  /** Open connections, of those that are accepted. */
  connectionsShare: number;
  isDiskFull: boolean;
}

/** `busy`: no new streams. `overwhelmed`: nothing new but what relieves or ends something. */
export type Load = 'well' | 'busy' | 'overwhelmed';

/** A loop that is late now and then is a collection of garbage; one that is late this long in a row has too much to do. */
const busyLooksMin = 5;
const busyLoopDelayMs = 200;
/** One long wait, after which all is well again, is no overload. */
const overwhelmedLooksMin = 3;
const overwhelmedLoopDelayMs = 1_000;
const busyMemoryShare = 0.7;
const overwhelmedMemoryShare = 0.85;
const busyConnectionsShare = 0.8;
const retryAfterSeconds = 2;

/**
 * Sheds new work before the process breaks under it, so that the calls that it has taken end well. To be looked at once
 * a second.
 */
export class Overload {
  #lateLooks = 0;
  #veryLateLooks = 0;
  #load: Load = 'well';
  #isDiskFull = false;

  get load(): Load {
    return this.#load;
  }

  /** Takes a sample; true when the load is another one than before. */
  look({ loopDelayMs, memoryShare, connectionsShare, isDiskFull }: LoadSample): boolean {
    const before = this.#load;
    this.#isDiskFull = isDiskFull;
    this.#lateLooks = loopDelayMs > busyLoopDelayMs ? this.#lateLooks + 1 : 0;
    this.#veryLateLooks = loopDelayMs > overwhelmedLoopDelayMs ? this.#veryLateLooks + 1 : 0;
    if (isDiskFull || memoryShare > overwhelmedMemoryShare || this.#veryLateLooks >= overwhelmedLooksMin) {
      this.#load = 'overwhelmed';
    } else if (
      this.#lateLooks >= busyLooksMin ||
      memoryShare > busyMemoryShare ||
      connectionsShare > busyConnectionsShare
    ) {
      this.#load = 'busy';
    } else this.#load = 'well';
    return this.#load !== before;
  }

  /** Fails with `unavailable` when a call of the endpoint is too much now. */
  admit(endpoint: Endpoint, body: unknown): void {
    if (this.#load === 'well' || endpoint.underLoad === 'kept') return;
    if (this.#load === 'overwhelmed' || isStream(endpoint, body)) {
      throw new ApiError('unavailable', {
        message: this.#isDiskFull
          ? 'The disk of the daemon is full.'
          : 'The daemon has more to do than it can. Try again in a moment.',
        retryAfterSeconds,
      });
    }
  }
}

function isStream({ stream, socket }: Endpoint, body: unknown): boolean {
  if (socket !== undefined) return true;
  if (stream === undefined) return false;
  return stream.always || (body as { stream?: unknown } | null | undefined)?.stream === true;
}

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
