import { EventEmitter } from 'node:events';
import {
  MessageChannel,
  type MessagePort,
  type Transferable,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads';
import type { Use } from './thread-host.ts';

/** Threads without a script, by the script that they ran. */
const free = new Map<string, Worker[]>();

/**
 * Stands in for a `Worker`: runs its script in a thread that has run it before, if one is free. Starting a thread takes several
 * times as long as what tests use most of them for.
 */
export class ReusedThread extends EventEmitter {
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #script: string;
  readonly #exited: Promise<number>;
  #threadId: number;
  #hasDied = false;

  /** `file` runs the scripts. */
  constructor(file: string, script: string, { workerData, transferList = [], env }: WorkerOptions) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#script = script;
    this.#port = port1;
    this.#thread = free.get(script)?.pop() ?? newThread(file, env);
    this.#threadId = this.#thread.threadId;
    this.#exited = new Promise((resolve) => this.once('exit', resolve));
    const use = { script, port: port2, workerData, env: env as NodeJS.ProcessEnv } satisfies Use;
    this.#thread.postMessage(use, [port2, ...transferList]);
    const onError = (error: unknown) => this.emit('error', error);
    const onExit = (code: number) => this.#end(code);
    this.#thread.once('error', onError).once('exit', onExit);
    this.#thread.once('message', () => {
      this.#thread.off('error', onError).off('exit', onExit);
      // What failed may have left something open.
      if (this.#hasDied) void this.#thread.terminate();
      else free.set(script, [...(free.get(script) ?? []), this.#thread]);
    });
    port1.on('message', (message) => {
      this.#hasDied ||= message?.died !== undefined;
      this.emit('message', message);
    });
    port1.once('close', () => this.#end(0));
  }

  /** -1 once it has ended. */
  get threadId(): number {
    return this.#threadId;
  }

  postMessage(message: unknown, transferList: readonly Transferable[] = []): void {
    this.#port.postMessage(message, transferList);
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }

  async terminate(): Promise<number> {
    // It only ends by this, and never blocks.
    if (this.#script === 'server-worker') this.#port.close();
    else if (this.#threadId !== -1) {
      // It may be free already, before its port is closed: nobody else must get it.
      this.#hasDied = true;
      const others = free.get(this.#script)?.filter((thread) => thread !== this.#thread);
      free.set(this.#script, others ?? []);
      void this.#thread.terminate();
      // Of a thread that is free already, nothing else listens to this.
      this.#thread.once('exit', (code) => this.#end(code));
    }
    return this.#exited;
  }

  #end(code: number): void {
    if (this.#threadId === -1) return;
    this.#threadId = -1;
    this.emit('exit', code);
  }
}

function newThread(file: string, env: WorkerOptions['env']): Worker {
  const thread = new Worker(file, { env });
  // Each use has a port, which keeps the process alive as long as it is open.
  thread.unref();
  return thread;
}
