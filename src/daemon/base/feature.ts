import type { Handler } from './handler.ts';

/** Reports a failure of background work, which goes on. */
export type OnFailure = (error: unknown) => void;

/** Background work until aborted. */
export type Job = (signal: AbortSignal, onFailure: OnFailure) => Promise<unknown>;

/** A part of the service, as the daemon runs it. What a feature does not need is left out. */
export interface Feature {
  readonly handlers?: readonly Handler[];
  /** Work of each daemon: on what it keeps in memory or in its data folder, and on what it started itself. */
  readonly jobs?: readonly Job[];
  /**
   * Work that one daemon does for all that serve the database: on what is stored. It may start before it has ended on the
   * daemon that did it before, so writes that only one may make are conditional.
   */
  readonly sharedJobs?: readonly Job[];
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
    sharedJobs: features.flatMap(({ sharedJobs = [] }) => sharedJobs),
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
