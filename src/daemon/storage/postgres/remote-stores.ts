import type { Worker } from 'node:worker_threads';
import { ApiError, type ErrorCode } from '../../../shared/errors.ts';
import { exitWaiter } from '../sqlite/engine/exit-waiter.ts';
import type { StoresContext, stores } from '../sqlite/stores.ts';

type Stores = ReturnType<typeof stores>;

/** Messages to a thread of stores. `answer`: to its question of that number. */
export type ToStores =
  | { id: number; store: string; method: string; args: unknown[] }
  | { answer: number; result?: unknown; failed?: true }
  | { close: true };

/** Messages from a thread of stores: what a method returned, or a question that the main thread answers. */
export type FromStores =
  | { id: number; result: unknown }
  | StoresFailure
  | { question: number; ask: 'write' | 'read' | 'check'; args: unknown[] };

/** How a method ended. `question`: the number of the question whose failure ended it. */
export interface StoresFailure {
  id: number;
  problem: string;
  question?: number;
  /** What the caller is to see. */
  refusal?: { code: ErrorCode; message?: string; param?: string | null };
}

/** What the main thread does for threads of stores. */
export type Services = Pick<StoresContext, 'daemon' | 'writer' | 'reader' | 'checker'>;

interface Call {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

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
  readonly #worker: Worker;
  readonly #services: Services;
  readonly #exited: () => Promise<void>;
  readonly #calls = new Map<number, Call>();
  /** Failures of questions, with which the methods that asked them end. */
  readonly #failures = new Map<number, Error>();
  #lastId = 0;
  #isClosing = false;

  constructor(worker: Worker, services: Services, onFatal: (error: Error) => void) {
    this.#worker = worker;
    this.#services = services;
    this.#exited = exitWaiter(worker);
    const fail = (error: Error) => {
      for (const { reject } of this.#calls.values()) reject(new ApiError('unavailable', { cause: error }));
      this.#calls.clear();
      if (!this.#isClosing) onFatal(error);
    };
    worker.on('message', (message: FromStores) => this.#receive(message));
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('a thread of stores ended')));
  }

  /** Number of methods that have not ended. */
  get running(): number {
    return this.#calls.size;
  }

  call(store: string, method: string, args: unknown[]): Promise<never> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#post({ id, store, method, args });
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#post({ close: true });
    await this.#exited();
  }

  #post(message: ToStores): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromStores): void {
    if ('ask' in message) {
      void this.#answer(message);
      return;
    }
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if ('result' in message) call?.resolve(message.result as never);
    else call?.reject(this.#errorOf(message));
  }

  async #answer({ question, ask, args }: Extract<FromStores, { ask: string }>): Promise<void> {
    try {
      this.#post({ answer: question, result: await this.#serve(ask, args) });
    } catch (error) {
      this.#failures.set(question, error as Error);
      this.#post({ answer: question, failed: true });
    }
  }

  #serve(ask: 'write' | 'read' | 'check', [name, data, options]: unknown[]): Promise<unknown> {
    const { writer, reader, checker } = this.#services;
    if (ask === 'write') return writer.write(name as never, data as never, options as never);
    return (ask === 'read' ? reader : checker).run(name as never, data as never);
  }

  #errorOf({ problem, question, refusal }: StoresFailure): Error {
    const failure = question === undefined ? undefined : this.#failures.get(question);
    if (question !== undefined) this.#failures.delete(question);
    if (failure) return failure;
    const cause = new Error(problem);
    return refusal ? new ApiError(refusal.code, { ...refusal, cause }) : cause;
  }
}
