import type { Worker } from 'node:worker_threads';
import { ApiError } from '../../../../shared/errors.ts';
import { exitWaiter } from './exit-waiter.ts';

/** `close` comes last. */
export type ToReader = { id: number; name: string; data: unknown } | { close: true };

export type FromReader =
  | { id: number; result: unknown }
  | { id: number; problem: string; isUnavailable: boolean }
  | { id: number; progress: unknown }
  | { id: number; isStep: true };

/** Reads by name; each takes plain data and may report progress, and each step that reads a snapshot of its own. */
export type Reads = Record<string, (data: never, onProgress: never, onStep: () => void) => unknown>;

interface PendingRead {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  onProgress?: ((progress: never) => void) | undefined;
  /** Of the read, or of its last step. */
  startedAt: number;
}

/**
 * The thread ends after this long without a read, which frees some 7 MB. Starting it again makes a read wait for 0.1 to 0.4 s,
 * so it outlasts the pauses of someone who looks at usage and traces.
 */
const idleMs = 10 * 60_000;

/** Main-thread side of the reader: runs long reads in a thread that starts on demand and ends when idle. */
export class Reader<R extends Reads> {
  readonly #startThread: () => Worker;
  readonly #pending = new Map<number, PendingRead>();
  #thread: { worker: Worker; exited: () => Promise<void> } | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(startThread: () => Worker) {
    this.#startThread = startThread;
  }

  run<N extends keyof R & string>(
    name: N,
    data?: Parameters<R[N]>[0],
    onProgress?: Parameters<R[N]>[1],
  ): Promise<Awaited<ReturnType<R[N]>>> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    this.#thread.worker.postMessage({ id, name, data } satisfies ToReader);
    return new Promise((resolve, reject) => {
      const pending = { resolve: resolve as PendingRead['resolve'], reject, onProgress };
      this.#pending.set(id, { ...pending, startedAt: performance.now() });
    });
  }

  /** Aborts all reads if one, or a step of it, runs longer than that; returns whether it did. Later reads start a new thread. */
  abortOlderThan(ms: number): boolean {
    const before = performance.now() - ms;
    const isOld = [...this.#pending.values()].some(({ startedAt }) => startedAt < before);
    if (isOld) void this.close();
    return isOld;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    this.#rejectAll(new Error('the reader was closed'));
    thread?.worker.postMessage({ close: true } satisfies ToReader);
    await thread?.exited();
  }

  #start() {
    const worker = this.#startThread();
    const thread = { worker, exited: exitWaiter(worker) };
    const onEnd = (error: Error) => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#rejectAll(error);
    };
    worker.on('message', (message: FromReader) => this.#receive(message));
    worker.on('error', onEnd);
    worker.on('exit', () => onEnd(new Error('the reader thread ended')));
    return thread;
  }

  #receive(message: FromReader): void {
    const read = this.#pending.get(message.id);
    if ('isStep' in message) {
      if (read) read.startedAt = performance.now();
      return;
    }
    if ('progress' in message) {
      read?.onProgress?.(message.progress as never);
      return;
    }
    this.#pending.delete(message.id);
    if ('problem' in message) {
      const cause = new Error(`a long read failed: ${message.problem}`);
      read?.reject(message.isUnavailable ? new ApiError('unavailable', { cause }) : cause);
    } else read?.resolve(message.result);
    if (this.#pending.size === 0) this.#idle = setTimeout(() => void this.close(), idleMs).unref();
  }

  #rejectAll(cause: Error): void {
    for (const { reject } of this.#pending.values()) reject(new ApiError('unavailable', { cause }));
    this.#pending.clear();
  }
}
