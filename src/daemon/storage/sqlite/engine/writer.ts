import type { Worker } from 'node:worker_threads';
import type { WriteCommands } from '../write-commands.ts';
import { DataNeedsRepair } from './errors.ts';
import type { StorageLog } from './log.ts';
import { endOf } from './thread.ts';
import type { BatchAnswer, BatchFailure, Operation } from './write-batch.ts';
import { failureOfEngine, refusal } from './write-failures.ts';
import { type WriteOptions, WriteQueue } from './write-queue.ts';
import type { FromWriter, ToWriter } from './writer-protocol.ts';

type Name = keyof WriteCommands;
type DataOf<N extends Name> = Parameters<WriteCommands[N]>[0];
type ResultOf<N extends Name> = ReturnType<WriteCommands[N]>;

/** How often a full disk is tried again. */
const retryMs = 1000;

/** The main thread's side of the writer: takes writes, sends them in batches, and knows whether writing works. */
export class Writer {
  readonly #worker: Worker;
  readonly #queue: WriteQueue;
  readonly #log: StorageLog;
  readonly #now: () => number;
  readonly #fatalListeners: ((reason: Error) => void)[] = [];
  readonly #opened = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #end: ReturnType<typeof endOf>;
  /** Whether the thread may end without having died. */
  #mayEnd = false;
  #file = '';
  /** Why no write is taken any more. */
  #refusal: string | undefined;
  #isFull = false;
  #fatal: Error | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor({ now, log, worker }: { now: () => number; log: StorageLog; worker: Worker }) {
    this.#now = now;
    this.#log = log;
    this.#worker = worker;
    this.#end = endOf(worker);
    this.#queue = new WriteQueue((operations: Operation[]) => this.#tell({ batch: operations }));
    this.#opened.promise.catch(() => {});
    this.#worker.on('message', (message: FromWriter) => this.#hear(message));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', () => {
      if (!this.#mayEnd) this.#die(new Error('the thread that writes the database ended'));
    });
  }

  /** Opens the database in the thread; the file is prepared. */
  async open(file: string): Promise<void> {
    this.#file = file;
    this.#tell({ open: file });
    await this.#opened.promise;
  }

  /** Resolves after COMMIT. Rejects with ApiError `conflict` or `unavailable`, or with a fault of ours. */
  write<N extends Name>(name: N, data: DataOf<N>, options?: WriteOptions): Promise<ResultOf<N>> {
    if (this.#refusal !== undefined) return Promise.reject(refusal(this.#refusal));
    return this.#queue.add([name, data], options) as Promise<ResultOf<N>>;
  }

  /** Writes in the place of a write that still waits under that name; undefined when there is none. */
  replace<N extends Name>(waiting: string, name: N, data: DataOf<N>): Promise<ResultOf<N>> | undefined {
    return this.#queue.replace(waiting, [name, data]) as Promise<ResultOf<N>> | undefined;
  }

  /** Writes that wait or are under way. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Why writes fail at present, if they do. */
  get trouble(): string | undefined {
    return this.#refusal ?? (this.#isFull ? 'the disk is full' : undefined);
  }

  /** Takes no further writes, for good; those that wait are still written. */
  refuse(reason: string): void {
    this.#refusal ??= reason;
  }

  /** Ends the writing for good, what waits included, for a reason that the thread does not know of. */
  abandon(reason: Error): void {
    this.#die(reason);
  }

  onFatal(listener: (reason: Error) => void): void {
    if (this.#fatal) listener(this.#fatal);
    else this.#fatalListeners.push(listener);
  }

  /** Writes what waits, then closes the database; marks it as cleanly closed unless writing was refused for a fault. */
  async close(): Promise<void> {
    const isSound = this.#refusal === undefined;
    this.refuse('the daemon is stopping');
    await this.#queue.drained();
    clearInterval(this.#retry);
    if (!this.#fatal && isSound) {
      this.#tell({ close: { lastSeen: this.#now() } });
      await this.#closed.promise;
    } else {
      this.#tell({ end: true });
    }
    this.#mayEnd = true;
    await this.#end();
  }

  #tell(message: ToWriter): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWriter): void {
    if ('opened' in message) this.#opened.resolve();
    else if ('closed' in message) {
      // It ends by itself now, which may be told before whoever closes it goes on.
      this.#mayEnd = true;
      this.#closed.resolve();
    } else if ('died' in message) {
      const { died, isDamage } = message;
      this.#die(isDamage ? new DataNeedsRepair(this.#file, died) : new Error(died));
    } else this.#answered(message);
  }

  #answered(answer: BatchAnswer): void {
    if (!('failure' in answer)) this.#setFull(false);
    else this.#failed(answer.failure);
    this.#queue.answered(answer);
  }

  #failed(failure: BatchFailure): void {
    this.#log.error(
      { kind: failure.kind, code: failure.code, reason: failure.message },
      'a batch of writes failed',
    );
    if (failure.kind === 'full') this.#setFull(true);
    if (failure.kind === 'fatal')
      this.#die(new Error(`the database failed: ${failure.code}: ${failure.message}`));
  }

  #setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (isFull) {
      this.#retry = setInterval(() => {
        this.write('engine.touch', this.#now()).catch(() => {});
      }, retryMs).unref();
    } else {
      clearInterval(this.#retry);
      this.#log.info({}, 'writing works again');
    }
  }

  #die(reason: Error): void {
    if (this.#fatal) return;
    this.#fatal = reason;
    this.refuse('the database failed');
    clearInterval(this.#retry);
    this.#opened.reject(reason);
    this.#closed.resolve();
    this.#queue.rejectAll(failureOfEngine(reason));
    for (const listener of this.#fatalListeners) listener(reason);
  }
}
