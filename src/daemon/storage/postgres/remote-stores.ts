import type { Worker } from 'node:worker_threads';
import { ApiError } from '../../../shared/errors.ts';
import { exitWaiter } from '../../worker-threads/exit-waiter.ts';
import { ThreadLink } from '../../worker-threads/thread-link.ts';
import type { Stores, StoresContext } from '../sqlite/stores.ts';

/** What a thread of stores is asked. */
export interface ToStores {
  /** The result of a method, or the value of another member. */
  call: [question: { store: string; method: string; args: unknown[] }, answer: unknown];
  close: [question: undefined, answer: undefined];
}

/** What a thread of stores asks the main thread, which has the writer and the readers of many rows. */
export interface FromStores {
  write: [question: unknown[], answer: unknown];
  read: [question: unknown[], answer: unknown];
  check: [question: unknown[], answer: unknown];
}

/** What the main thread does for threads of stores. */
export type Services = Pick<StoresContext, 'daemon' | 'writer' | 'reader' | 'checker'>;

/** Enough for the reads of a daemon; each keeps its own connection busy. */
const threadsMax = 2;

/**
 * Runs the methods of stores in threads, as they block while they wait for the server. Those of one store that run at the same
 * time share a thread, and thus start in the order in which they are called. A second thread starts when the first is busy.
 */
export class RemoteStores {
  readonly #start: () => StoresThread;
  readonly #threads: StoresThread[] = [];
  /** The threads of stores that have methods running, and how many. */
  readonly #running = new Map<string, { thread: StoresThread; calls: number }>();

  constructor(startWorker: () => Worker, services: Services, onFatal: (error: Error) => void) {
    this.#start = () => new StoresThread(startWorker(), services, onFatal);
  }

  /** The result of a method, or the value of another member. */
  async call(store: string, method: string, args: unknown[] = []): Promise<never> {
    const running = this.#running.get(store) ?? { thread: this.#leastBusy(), calls: 0 };
    this.#running.set(store, running);
    running.calls += 1;
    try {
      return await running.thread.call(store, method, args);
    } finally {
      running.calls -= 1;
      if (running.calls === 0) this.#running.delete(store);
    }
  }

  #leastBusy(): StoresThread {
    const [first] = this.#threads.toSorted((a, b) => a.running - b.running);
    if (first && (first.running === 0 || this.#threads.length === threadsMax)) return first;
    const started = this.#start();
    this.#threads.push(started);
    return started;
  }

  /** A store whose methods run in a thread. */
  store<Name extends keyof Stores & string>(name: Name): Stores[Name] {
    const methods = new Map<string, (...args: unknown[]) => Promise<unknown>>();
    return new Proxy({} as Stores[Name], {
      get: (_target, method) => {
        // Without `then`, it is no promise.
        if (typeof method !== 'string' || method === 'then') return undefined;
        const call = methods.get(method) ?? ((...args: unknown[]) => this.call(name, method, args));
        methods.set(method, call);
        return call;
      },
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class StoresThread {
  readonly #link: ThreadLink<ToStores, FromStores>;
  readonly #exited: () => Promise<void>;
  /** Number of methods that have not ended. */
  running = 0;
  #isClosing = false;

  constructor(worker: Worker, { writer, reader, checker }: Services, onFatal: (error: Error) => void) {
    this.#exited = exitWaiter(worker);
    this.#link = new ThreadLink<ToStores, FromStores>(worker, {
      write: ([name, data, options]) => writer.write(name as never, data as never, options as never),
      read: ([name, data]) => reader.run(name as never, data as never),
      check: ([name, data]) => checker.run(name as never, data as never),
    });
    const fail = (cause: Error) => {
      this.#link.end(new ApiError('unavailable', { cause }));
      if (!this.#isClosing) onFatal(cause);
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('a thread of stores ended')));
  }

  async call(store: string, method: string, args: unknown[]): Promise<never> {
    this.running += 1;
    try {
      return (await this.#link.ask('call', { store, method, args })) as never;
    } finally {
      this.running -= 1;
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#link.tell('close', undefined);
    await this.#exited();
  }
}
