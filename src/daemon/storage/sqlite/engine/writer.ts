import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import type { Log } from '../../../base/log.ts';
import type { Renewal } from '../../../features/daemons/members.ts';
import { exitWaiter } from '../../../worker-threads/exit-waiter.ts';
import { HangJudge, type MainThreadWatch } from '../../../worker-threads/watch-main-thread.ts';
import { DatabaseUnusable, DataNeedsRepair } from './errors.ts';
import type { FromWriter, ToWriter } from './serve-writes.ts';
import type { BatchFailure, BatchResult, Commands, Obstacle } from './write-batch.ts';
import { isObstacle, refusedError, writerDiedError } from './write-errors.ts';
import { QueuedWrites } from './write-queue.ts';

/** How often a write is retried while something prevents all, in milliseconds. */
const retryMs = 1000;
/** Writes wait this long for a server that cannot be reached, in milliseconds; after that they are refused. */
const patienceMs = 2000;
/** One batch may take so many times the CPU of a task of the main thread: a budget reads all calls that it counts. */
const batchShare = 4;

export interface WriterOptions {
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  log: Log;
  worker: Worker;
  /** Called each time the term of the daemon was renewed, before the database counts as open, too. */
  onRenewal?: (renewal: Renewal) => void;
}

/** Main-thread side of the writer: queues writes, sends them in batches, and tracks whether writing works. */
export class Writer<C extends Commands> extends QueuedWrites<C> {
  readonly #worker: Worker;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #onRenewal: (renewal: Renewal) => void;
  readonly #fatalListeners: ((reason: Error) => void)[] = [];
  readonly #opened = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #exited: () => Promise<void>;
  /** Whether the exit of the thread is expected. */
  #mayExit = false;
  #file = '';
  /** Why writes are no longer accepted. */
  #refusedFor: string | undefined;
  /** Since when the server cannot be reached, in milliseconds of `performance.now()`. */
  #unreachableSince: number | undefined;
  #fatal: Error | undefined;
  #retry: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** Grows with each answer of the thread. */
  #answers = 0;
  /** Whether one batch takes very long. */
  #isLate = false;

  constructor({ now, log, worker, onRenewal = () => {} }: WriterOptions) {
    super((batch) => worker.postMessage({ batch } satisfies ToWriter));
    this.#now = now;
    this.#log = log;
    this.#worker = worker;
    this.#onRenewal = onRenewal;
    this.#exited = exitWaiter(worker);
    this.#opened.promise.catch(() => {});
    this.#worker.on('message', (message: FromWriter) => {
      try {
        this.#receive(message);
      } catch (error) {
        // It is not known any more which writes were committed.
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => {
      if (!this.#mayExit) this.#fail(new Error('the writer thread ended'));
    });
  }

  /** Opens the prepared database in the thread. */
  async open(file: string): Promise<void> {
    this.#file = file;
    this.#post({ open: file });
    await this.#opened.promise;
  }

  /**
   * Has the thread end the process if the main thread hangs. If one batch keeps the thread busy for ever, it is ended, which counts as
   * fatal. In native code it does not tell what it used (nor does Node before 24.6), and is left alone.
   */
  watchMainThread(watch: MainThreadWatch): void {
    this.#post({ watch });
    const judge = new HangJudge(watch.cpuMsMax * batchShare, { turn: this.#answers, cpuMs: 0 });
    let isAsked = false;
    const look = async () => {
      if (this.pending === 0) this.#answers += 1;
      isAsked = true;
      const used = await this.#worker.cpuUsage?.();
      isAsked = false;
      if (used) this.#judge(judge.look({ turn: this.#answers, cpuMs: (used.user + used.system) / 1_000 }));
    };
    this.#watch = setInterval(() => {
      if (!isAsked) look().catch(() => {});
    }, watch.everyMs).unref();
  }

  /** Returns the port for a `PortWriter` of another thread, which closes before this writer does. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage({ client: port1 } satisfies ToWriter, [port1]);
    return port2;
  }

  protected get refusal(): string | undefined {
    if (this.#refusedFor !== undefined || this.#unreachableSince === undefined) return this.#refusedFor;
    const isLong = performance.now() - this.#unreachableSince > patienceMs;
    return isLong ? 'the database server cannot be reached' : undefined;
  }

  override get problem(): string | undefined {
    return super.problem ?? (this.#isLate ? 'one write takes very long' : undefined);
  }

  /** Accepts no more writes; queued ones are still written. */
  refuseWrites(reason: string): void {
    this.#refusedFor ??= reason;
  }

  /** Stops writing for good and rejects queued writes, for a reason the thread does not know. */
  abort(reason: Error): void {
    this.#fail(reason);
  }

  onFatal(listener: (reason: Error) => void): void {
    if (this.#fatal) listener(this.#fatal);
    else this.#fatalListeners.push(listener);
  }

  /** Writes what is queued, then closes the database. The shutdown is marked clean unless writes were refused before. */
  async close(): Promise<void> {
    const isHealthy = this.#refusedFor === undefined && this.#unreachableSince === undefined;
    this.refuseWrites('the daemon is stopping');
    if (this.#unreachableSince !== undefined) this.queue.rejectAll(refusedError('the daemon is stopping'));
    await this.queue.drained();
    clearInterval(this.#retry);
    clearInterval(this.#watch);
    if (!this.#fatal && isHealthy) {
      this.#post({ close: { lastSeen: this.#now() } });
      await this.#closed.promise;
    } else {
      this.#post({ end: true });
    }
    this.#mayExit = true;
    await this.#exited();
  }

  /** Ends the thread without its database, which does not answer: what is queued is rejected. For connections to a server only. */
  async giveUp(): Promise<void> {
    this.#mayExit = true;
    this.refuseWrites('the daemon is stopping');
    clearInterval(this.#retry);
    clearInterval(this.#watch);
    this.queue.rejectAll(refusedError('the daemon is stopping'));
    this.#closed.resolve();
    await this.#worker.terminate();
  }

  #post(message: ToWriter): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWriter): void {
    this.#answers += 1;
    this.#isLate = false;
    if ('opened' in message) this.#opened.resolve();
    else if ('closed' in message) {
      // The exit event can arrive before `close` resumes.
      this.#mayExit = true;
      this.#closed.resolve();
    } else if ('died' in message) this.#fail(this.#deathOf(message));
    else if ('unreachable' in message) {
      this.#unreachableSince ??= performance.now();
      this.#log.error({ reason: message.unreachable }, 'the connection to the database was lost');
    } else if ('reachable' in message) {
      this.#unreachableSince = undefined;
      this.#log.info({}, 'the database is connected again');
    } else if ('renewal' in message) this.#onRenewal(message.renewal);
    else this.#completeBatch(message);
  }

  #judge(verdict: ReturnType<HangJudge['look']>): void {
    if (verdict === 'interrupt') {
      this.#isLate = true;
      this.#log.error({ commands: this.queue.commandsInFlight }, 'a batch of writes takes very long');
    } else if (verdict === 'kill') {
      this.#fail(new Error('the writer thread did not return from a batch'));
      void this.#worker.terminate();
    }
  }

  #deathOf({ died, cause }: Extract<FromWriter, { died: string }>): Error {
    if (cause === 'damage') return new DataNeedsRepair(this.#file, died);
    return cause === 'unusable' ? new DatabaseUnusable(died) : new Error(died);
  }

  #completeBatch(result: BatchResult): void {
    if ('failure' in result) this.#batchFailed(result.failure);
    else this.#setObstacle(undefined);
    this.queue.completeBatch(result);
  }

  #batchFailed({ kind, code, message }: BatchFailure): void {
    // An obstacle is reported once, although every retry fails.
    if (kind !== this.obstacle) this.#log.error({ kind, code, reason: message }, 'a batch of writes failed');
    if (isObstacle(kind)) this.#setObstacle(kind);
    if (kind === 'fatal') this.#fail(new Error(`the database failed: ${code}: ${message}`));
  }

  #setObstacle(obstacle: Obstacle | undefined): void {
    if (obstacle === this.obstacle) return;
    this.obstacle = obstacle;
    clearInterval(this.#retry);
    if (obstacle !== undefined) {
      this.#retry = setInterval(() => {
        // Fails until the obstacle has passed.
        if (this.#refusedFor === undefined) this.queue.add(['engine.touch', this.#now()]).catch(() => {});
      }, retryMs).unref();
    } else this.#log.info({}, 'writing works again');
  }

  #fail(reason: Error): void {
    if (this.#fatal) return;
    this.#fatal = reason;
    this.refuseWrites('the database failed');
    clearInterval(this.#retry);
    clearInterval(this.#watch);
    this.#opened.reject(reason);
    this.#closed.resolve();
    this.queue.rejectAll(writerDiedError(reason));
    for (const listener of this.#fatalListeners) listener(reason);
  }
}
