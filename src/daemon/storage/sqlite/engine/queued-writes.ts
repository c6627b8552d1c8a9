import { type SentOperations, sentOperations } from './sent-operations.ts';
import type { Commands, Obstacle } from './write-batch.ts';
import { obstacles, refusedError } from './write-errors.ts';
import { type WriteOptions, WriteQueue } from './write-queue.ts';

/** Writes that wait in this thread until the writer thread has committed them. */
export abstract class QueuedWrites<C extends Commands> {
  protected readonly queue: WriteQueue;
  /** What prevented the last batch, and will prevent others. */
  protected obstacle: Obstacle | undefined;

  constructor(send: (operations: SentOperations) => void) {
    this.queue = new WriteQueue((operations, areJson) => send(sentOperations(operations, areJson)));
  }

  /** Why writes are refused; undefined if they are accepted. */
  protected abstract readonly refusal: string | undefined;

  /** Resolves after COMMIT. Rejects with ApiError `conflict` or `unavailable`, or with an internal error. */
  write<N extends keyof C & string>(
    name: N,
    data: Parameters<C[N]>[0],
    options?: WriteOptions,
  ): Promise<ReturnType<C[N]>> {
    const { refusal } = this;
    if (refusal !== undefined) return Promise.reject(refusedError(refusal));
    return this.queue.add([name, data], options) as Promise<ReturnType<C[N]>>;
  }

  /** Replaces the write waiting under `waiting`; undefined if there is none. */
  replace<N extends keyof C & string>(
    waiting: string,
    name: N,
    data: Parameters<C[N]>[0],
    options?: Pick<WriteOptions, 'isJson'>,
  ): Promise<ReturnType<C[N]>> | undefined {
    return this.queue.replace(waiting, [name, data], options) as Promise<ReturnType<C[N]>> | undefined;
  }

  /** Number of writes that are not committed yet. */
  get pending(): number {
    return this.queue.size;
  }

  /** Why writes fail now, as far as this thread knows; undefined if they do not. */
  get problem(): string | undefined {
    return this.refusal ?? (this.obstacle && obstacles[this.obstacle]);
  }
}
