import type { Worker } from 'node:worker_threads';
import { ApiError } from '../../../../shared/errors.ts';
import type { LongReads } from '../long-reads.ts';
import { endOf, startThread } from './thread.ts';

/** `close` is the last. */
export type ToReader = { id: number; name: string; data: unknown } | { close: true };

export type FromReader =
  | { id: number; result: unknown }
  | { id: number; problem: string }
  | { id: number; progress: unknown };

interface Question {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  onProgress?: (progress: never) => void;
  askedAt: number;
}

/** After this long without a question the thread ends, and its memory is free. */
const idleMs = 30_000;

/** The main thread's side of the reader: a thread for long reads, started by the first and ended when idle. */
export class Reader {
  readonly #file: string;
  readonly #questions = new Map<number, Question>();
  #thread: { worker: Worker; end: ReturnType<typeof endOf> } | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(file: string) {
    this.#file = file;
  }

  ask<N extends keyof LongReads>(
    name: N,
    ...data: Parameters<LongReads[N]>
  ): Promise<Awaited<ReturnType<LongReads[N]>>> {
    return this.#ask(name, data[0]) as Promise<Awaited<ReturnType<LongReads[N]>>>;
  }

  /** The same, for a read that tells how far it is. */
  askFollowing<N extends 'backup'>(
    name: N,
    data: Parameters<LongReads[N]>[0],
    onProgress: Parameters<LongReads[N]>[1],
  ): Promise<Awaited<ReturnType<LongReads[N]>>> {
    return this.#ask(name, data, onProgress) as Promise<Awaited<ReturnType<LongReads[N]>>>;
  }

  #ask(name: string, data: unknown, onProgress?: Question['onProgress']): Promise<unknown> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    this.#thread.worker.postMessage({ id, name, data } satisfies ToReader);
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { resolve, reject, onProgress, askedAt: performance.now() });
    });
  }

  /** Gives up what is asked when any of it takes longer than that; whether it did. The next question is answered again. */
  endOlderThan(ms: number): boolean {
    const before = performance.now() - ms;
    const isOld = [...this.#questions.values()].some(({ askedAt }) => askedAt < before);
    if (isOld) void this.close();
    return isOld;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    this.#giveUp(new Error('the storage was closed'));
    thread?.worker.postMessage({ close: true } satisfies ToReader);
    await thread?.end();
  }

  #start() {
    const worker = startThread('reader-worker', { file: this.#file });
    const thread = { worker, end: endOf(worker) };
    const ended = (error: Error) => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#giveUp(error);
    };
    worker.on('message', (answer: FromReader) => this.#hear(answer));
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('the thread that reads the database ended')));
    return thread;
  }

  #hear(answer: FromReader): void {
    const question = this.#questions.get(answer.id);
    if ('progress' in answer) {
      question?.onProgress?.(answer.progress as never);
      return;
    }
    this.#questions.delete(answer.id);
    if ('problem' in answer) question?.reject(new Error(`a long read failed: ${answer.problem}`));
    else question?.resolve(answer.result);
    if (this.#questions.size === 0) this.#idle = setTimeout(() => void this.close(), idleMs).unref();
  }

  #giveUp(cause: Error): void {
    for (const { reject } of this.#questions.values()) reject(new ApiError('unavailable', { cause }));
    this.#questions.clear();
  }
}
