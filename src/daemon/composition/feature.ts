import type { Handler } from '../handler.ts';

/** Reports a failure of background work, which goes on. */
export type OnFailure = (error: unknown) => void;

/** Background work until aborted. */
export type Job = (signal: AbortSignal, onFailure: OnFailure) => Promise<unknown>;

/** A part of the service, as the daemon runs it. What a feature does not need is left out. */
export interface Feature {
  readonly handlers?: readonly Handler[];
  readonly jobs?: readonly Job[];
  /** Loads what it keeps in memory, before the first request. */
  load?(): Promise<unknown>;
  /** Finishes what a daemon that is gone left behind. May be repeated. */
  takeOver?(daemon: number): Promise<unknown>;
  /** Called when other daemons have committed something: what waits for rows reads them again. */
  onWritten?(): void;
  /** Waits for what runs without a connection until the deadline, then cancels it. */
  drain?(deadlineMs: number): Promise<unknown>;
  /** Ends the streams of clients that follow something, as the daemon stops. */
  endStreams?(): void;
  /** Closes what is open, after everything else has stopped. */
  close?(): Promise<unknown>;
}

/** Makes features one. They load and take over in order: each may rely on those before it. */
export function joinFeatures(features: readonly Feature[]): Required<Feature> {
  return {
    handlers: features.flatMap(({ handlers = [] }) => handlers),
    jobs: features.flatMap(({ jobs = [] }) => jobs),
    async load() {
      for (const feature of features) await feature.load?.();
    },
    async takeOver(daemon) {
      for (const feature of features) await feature.takeOver?.(daemon);
    },
    onWritten() {
      for (const feature of features) feature.onWritten?.();
    },
    drain: (deadlineMs) => Promise.all(features.map((feature) => feature.drain?.(deadlineMs))),
    endStreams() {
      for (const feature of features) feature.endStreams?.();
    },
    close: () => Promise.all(features.map((feature) => feature.close?.())),
  };
}
