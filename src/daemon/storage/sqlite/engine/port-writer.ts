import type { MessagePort } from 'node:worker_threads';
import type { BatchResult, Commands } from './write-batch.ts';
import { refusedError, writerDiedError } from './write-errors.ts';
import { type WriteOptions, WriteQueue } from './write-queue.ts';
import type { Writer } from './writer.ts';

/** Writes of one thread through the writer of another one, which owns the writer thread and reports its failures. */
export class PortWriter<C extends Commands> implements Pick<Writer<C>, 'write' | 'replace' | 'pending'> {
  readonly #port: MessagePort;
  readonly #queue: WriteQueue;
  #refusal: string | undefined;
  #isFull = false;

  /** `port` is what `Writer.connect` returned. */
  constructor(port: MessagePort) {
    this.#port = port;
    this.#queue = new WriteQueue((batch) => port.postMessage(batch));
    port.on('message', (result: BatchResult) => {
      this.#isFull = 'failure' in result && result.failure.kind === 'full';
      this.#queue.completeBatch(result);
    });
    port.on('close', () => {
      this.#refusal ??= 'the writer thread ended';
      this.#queue.rejectAll(writerDiedError(new Error('the writer thread ended')));
    });
  }

  write<N extends keyof C & string>(
    name: N,
    data: Parameters<C[N]>[0],
    options?: WriteOptions,
  ): Promise<ReturnType<C[N]>> {
    if (this.#refusal !== undefined) return Promise.reject(refusedError(this.#refusal));
    return this.#queue.add([name, data], options) as Promise<ReturnType<C[N]>>;
  }

  replace<N extends keyof C & string>(
    waiting: string,
    name: N,
    data: Parameters<C[N]>[0],
  ): Promise<ReturnType<C[N]>> | undefined {
    return this.#queue.replace(waiting, [name, data]) as Promise<ReturnType<C[N]>> | undefined;
  }

  get pending(): number {
    return this.#queue.size;
  }

  /** Why writes fail now, as far as this thread knows; undefined if they do not. */
  get problem(): string | undefined {
    return this.#refusal ?? (this.#isFull ? 'the disk is full' : undefined);
  }

  /** Writes what is queued, and ends the connection. */
  async close(): Promise<void> {
    this.#refusal ??= 'the daemon is stopping';
    await this.#queue.drained();
    this.#port.close();
  }
}
