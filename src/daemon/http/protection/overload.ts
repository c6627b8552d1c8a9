import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Log } from '../../base/log.ts';
import { collectGarbage } from '../../worker-threads/collect-garbage.ts';
import { LoopDelay } from './loop-delay.ts';

/** One measurement of the process. */
export interface LoadSample {
  /** See `LoopDelay`. */
  loopDelayMs: number;
  /** Resident memory, as a share of what the process can use. */
  memoryShare: number;
  /** The used heap of this thread, garbage included, as a share of its limit, at which the process ends. */
  heapShare: number;
  /** Open connections, as a share of the limit. */
  connectionsShare: number;
  isDiskFull: boolean;
}

/** `busy`: no new streams. `overwhelmed`: nothing new, except calls that reduce load. */
export type Load = 'well' | 'busy' | 'overwhelmed';

/** A single late sample is garbage collection; several in a row are overload. */
const busySamplesMin = 5;
const busyLoopDelayMs = 200;
const overwhelmedSamplesMin = 3;
const overwhelmedLoopDelayMs = 1_000;
const busyMemoryShare = 0.7;
const overwhelmedMemoryShare = 0.85;
const fullHeapShare = 0.85;
/** A full heap may be full of garbage: it counts after this many samples in a row, and is collected before the last of them. */
const fullHeapSamplesMin = 3;
/** Collecting a heap that stays full takes long. */
const collectEverySamples = 30;
const busyConnectionsShare = 0.8;
const retryAfterSeconds = 2;

/**
 * Rejects new work before the process breaks down, so that accepted calls can finish. Sampled once a second.
 */
export class Overload {
  #lateSamples = 0;
  #veryLateSamples = 0;
  #fullHeapSamples = 0;
  /** Without regard to the disk. */
  #pressure: Load = 'well';
  #isDiskFull = false;

  get load(): Load {
    return this.#isDiskFull ? 'overwhelmed' : this.#pressure;
  }

  get isHeapFull(): boolean {
    return this.#fullHeapSamples >= fullHeapSamplesMin;
  }

  /** Whether the garbage should be collected before the next sample. */
  get needsCollection(): boolean {
    return this.#fullHeapSamples % collectEverySamples === fullHeapSamplesMin - 1;
  }

  /** Takes a sample; returns whether the load has changed. */
  sample({ loopDelayMs, memoryShare, heapShare, connectionsShare, isDiskFull }: LoadSample): boolean {
    const before = this.load;
    this.#isDiskFull = isDiskFull;
    this.#lateSamples = loopDelayMs > busyLoopDelayMs ? this.#lateSamples + 1 : 0;
    this.#veryLateSamples = loopDelayMs > overwhelmedLoopDelayMs ? this.#veryLateSamples + 1 : 0;
    this.#fullHeapSamples = heapShare > fullHeapShare ? this.#fullHeapSamples + 1 : 0;
    if (
      memoryShare > overwhelmedMemoryShare ||
      this.isHeapFull ||
      this.#veryLateSamples >= overwhelmedSamplesMin
    ) {
      this.#pressure = 'overwhelmed';
    } else if (
      this.#lateSamples >= busySamplesMin ||
      memoryShare > busyMemoryShare ||
      connectionsShare > busyConnectionsShare
    ) {
      this.#pressure = 'busy';
    } else this.#pressure = 'well';
    return this.load !== before;
  }

  /** Fails with `unavailable` if the endpoint cannot accept a call now. */
  accept(endpoint: Endpoint, body: unknown): void {
    if (this.load === 'well' || endpoint.underLoad === 'kept') return;
    if (this.#isDiskFull && !onlyReads(endpoint)) throw rejection('The daemon’s disk is full.');
    if (this.#pressure === 'overwhelmed' || (this.#pressure === 'busy' && isStream(endpoint, body)))
      throw rejection('The daemon is overloaded. Try again in a moment.');
  }
}

function rejection(message: string): ApiError {
  return new ApiError('unavailable', { message, retryAfterSeconds });
}

function onlyReads({ method, socket }: Endpoint): boolean {
  return method === 'GET' && socket === undefined;
}

function isStream({ stream, socket }: Endpoint, body: unknown): boolean {
  if (socket !== undefined) return true;
  if (stream === undefined) return false;
  return stream.always || (body as { stream?: unknown } | null | undefined)?.stream === true;
}

const sampleEveryMs = 1_000;

export interface WatchLoadOptions {
  overload: Overload;
  log: Log;
  isDiskFull: () => boolean;
  /** Open connections and their limit; undefined without one. */
  connections: () => { open: number; max: number | undefined };
  /** Called while memory is short. */
  onShortOfMemory: () => void;
}

/** Samples the process once a second until the returned function is called. */
export function watchLoad({
  overload,
  log,
  isDiskFull,
  connections,
  onShortOfMemory,
}: WatchLoadOptions): () => void {
  const delay = new LoopDelay();
  // In a container the process cannot use all of the system's memory.
  const memoryMax = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  const timer = setInterval(() => {
    const { open, max } = connections();
    const heap = getHeapStatistics();
    const sample = {
      loopDelayMs: delay.look(),
      memoryShare: process.memoryUsage.rss() / memoryMax,
      heapShare: heap.used_heap_size / heap.heap_size_limit,
      connectionsShare: max === undefined ? 0 : open / max,
      isDiskFull: isDiskFull(),
    };
    const hasChanged = overload.sample(sample);
    if (sample.memoryShare > busyMemoryShare || overload.isHeapFull) onShortOfMemory();
    if (overload.needsCollection) collectGarbage();
    if (!hasChanged) return;
    if (overload.load === 'well') log.info(sample, 'load is back to normal');
    else log.warn(sample, `daemon is ${overload.load}: rejecting new calls`);
  }, sampleEveryMs).unref();
  return () => {
    clearInterval(timer);
    delay.stop();
  };
}
