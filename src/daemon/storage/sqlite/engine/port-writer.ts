import type { MessagePort } from 'node:worker_threads';
import type { BatchResult, Commands } from './write-batch.ts';
import { isObstacle, writerDiedError } from './write-errors.ts';
import { QueuedWrites } from './write-queue.ts';

/** Writes of one thread through the writer of another one, which owns the writer thread and reports its failures. */
export class PortWriter<C extends Commands> extends QueuedWrites<C> {
  readonly #port: MessagePort;
  protected refusal: string | undefined;

  /** `port` is what `Writer.connect` returned. */
  constructor(port: MessagePort) {
    super((batch) => port.postMessage(batch));
    this.#port = port;
    port.on('message', (result: BatchResult) => {
      const kind = 'failure' in result ? result.failure.kind : undefined;
      this.obstacle = kind && isObstacle(kind) ? kind : undefined;
      this.queue.completeBatch(result);
    });
    port.on('close', () => {
      this.refusal ??= 'the writer thread ended';
      this.queue.rejectAll(writerDiedError(new Error('the writer thread ended')));
    });
  }

  /** Writes what is queued, and ends the connection. */
  async close(): Promise<void> {
    this.refusal ??= 'the daemon is stopping';
    await this.queue.drained();
    this.#port.close();
  }
}
