import type { Worker } from 'node:worker_threads';
import { TransientMap } from '../../../../shared/async/transient.ts';
import { ApiError } from '../../../../shared/errors.ts';
import { exitWaiter } from '../../../worker-threads/exit-waiter.ts';
import { ThreadLink } from '../../../worker-threads/thread-link.ts';

/** What the thread is asked. */
export interface ToReader {
  /** `id`: the number under which it is reported about. */
  read: [question: { id: number; name: string; data: unknown }, answer: unknown];
  /** Comes last. */
  close: [question: undefined, answer: undefined];
}

/** What the thread reports about a read. */
export interface FromReader {
  progress: [question: { id: number; progress: unknown }, answer: undefined];
  /** A step of it starts. */
  step: [question: { id: number }, answer: undefined];
}

/** Reads by name; each takes plain data and may report progress, and each step that reads a snapshot of its own. */
export type Reads = Record<string, (data: never, onProgress: never, onStep: () => void) => unknown>;

interface RunningRead {
  onProgress: ((progress: never) => void) | undefined;
  /** Of the read, or of its last step. */
  startedAt: number;
}

interface Thread {
  link: ThreadLink<ToReader, FromReader>;
  exited: () => Promise<void>;
}

/**
 * The thread ends after this long without a read, which frees some 7 MB. Starting it again makes a read wait for 0.1 to 0.4 s,
 * so it outlasts the pauses of someone who looks at usage and traces.
 */
const idleMs = 10 * 60_000;

/** Main-thread side of the reader: runs long reads in a thread that starts on demand and ends when idle. */
export class Reader<R extends Reads> {
  readonly #startThread: () => Worker;
  readonly #running = new TransientMap<number, RunningRead>();
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(startThread: () => Worker) {
    this.#startThread = startThread;
  }

  async run<N extends keyof R & string>(
    name: N,
    data?: Parameters<R[N]>[0],
    onProgress?: Parameters<R[N]>[1],
  ): Promise<Awaited<ReturnType<R[N]>>> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    this.#running.set(id, { onProgress, startedAt: performance.now() });
    try {
      return (await this.#thread.link.ask('read', { id, name, data })) as Awaited<ReturnType<R[N]>>;
    } finally {
      this.#running.delete(id);
      if (this.#running.size === 0) this.#idle = setTimeout(() => void this.close(), idleMs).unref();
    }
  }

  /** Aborts all reads if one, or a step of it, runs longer than that; returns whether it did. Later reads start a new thread. */
  abortOlderThan(ms: number): boolean {
    const before = performance.now() - ms;
    const isOld = this.#running.values().some(({ startedAt }) => startedAt < before);
    if (isOld) void this.close();
    return isOld;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.link.tell('close', undefined);
    thread?.link.end(unavailable(new Error('the reader was closed')));
    await thread?.exited();
  }

  #start(): Thread {
    const worker = this.#startThread();
    const link = new ThreadLink<ToReader, FromReader>(worker, {
      progress: ({ id, progress }) => this.#running.get(id)?.onProgress?.(progress as never),
      step: ({ id }) => {
        const read = this.#running.get(id);
        if (read) read.startedAt = performance.now();
      },
    });
    const thread = { link, exited: exitWaiter(worker) };
    const onEnd = (cause: Error) => {
      if (this.#thread === thread) this.#thread = undefined;
      link.end(unavailable(cause));
    };
    worker.on('error', onEnd);
    worker.on('exit', () => onEnd(new Error('the reader thread ended')));
    return thread;
  }
}

function unavailable(cause: Error): ApiError {
  return new ApiError('unavailable', { cause });
}
