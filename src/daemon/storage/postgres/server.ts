import { MessageChannel, type Worker } from 'node:worker_threads';
import { startScript } from '../../worker-threads/start-script.ts';
import { ControlConnection } from './control-connection.ts';
import type { ServerChannel } from './engine/messages.ts';

/** Plans are made once for all values, and often expect far more rows than there are: more processes and compiled code would only delay them. */
const shortPlans = { max_parallel_workers_per_gather: 0, jit: 'off' };

/** What connections are for, and their bounds. */
const roles = {
  /** Creates and migrates the schema, which may take long. */
  control: { settings: {}, answerMs: 24 * 60 * 60_000 },
  writes: {
    settings: {
      statement_timeout: 10_000,
      lock_timeout: 2000,
      // The others wait for a daemon that is frozen or cut off while it has the lock. A batch is repeated over the next connection.
      idle_in_transaction_session_timeout: 1000,
      default_transaction_isolation: 'read committed',
      synchronous_commit: 'on',
      ...shortPlans,
    },
    answerMs: 15_000,
  },
  /** The changes of other daemons, without which a daemon answers no call. */
  changes: {
    settings: { statement_timeout: 2000, default_transaction_read_only: 'on', ...shortPlans },
    answerMs: 2000,
  },
  /** Pages and look-ups. */
  reads: { settings: { ...snapshot(5000), ...shortPlans }, answerMs: 8000 },
  /** Totals and searches over many rows. */
  longReads: { settings: { ...snapshot(60_000), ...shortPlans }, answerMs: 70_000 },
  /** Whole tables. */
  checks: { settings: { ...snapshot(0), ...shortPlans }, answerMs: 60 * 60_000 },
} as const;

export type Role = keyof typeof roles;

function snapshot(timeoutMs: number) {
  return {
    statement_timeout: timeoutMs,
    default_transaction_read_only: 'on',
    default_transaction_isolation: 'repeatable read',
  };
}

/** Message to the thread of the connections: serve another one. */
export interface ServeChannel {
  channel: ServerChannel;
  options: { name: string; settings: Record<string, string | number>; answerMs: number };
}

/** The address of the database, and the file that it is from, if it is from one. */
export interface ServerAddress {
  url: string;
  urlFile?: string | undefined;
}

/** The thread that speaks to the server, for all threads that block while they wait for it. */
export class Server {
  readonly #worker: Worker;
  readonly #onFatal: (error: Error) => void;
  #host = '';
  #isClosing = false;

  constructor({ url, urlFile }: ServerAddress, onFatal: (error: Error) => void) {
    this.#onFatal = onFatal;
    this.#worker = startThread('server-worker', { url, urlFile });
    this.#worker.on('message', (host: string) => {
      this.#host = host;
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread of the connections ended')));
  }

  /** The host and port of the server in use; empty before the first connection. */
  get host(): string {
    return this.#host;
  }

  /** The end of another connection, to hand over to the thread that uses it. */
  channel(role: Role): ServerChannel {
    const { port1, port2 } = new MessageChannel();
    const answers = new SharedArrayBuffer(4);
    const { settings, answerMs } = roles[role];
    const message: ServeChannel = {
      channel: { port: port1, answers },
      options: { name: `gateway ${role}`, settings: { search_path: 'gateway', ...settings }, answerMs },
    };
    this.#worker.postMessage(message, [port1]);
    return { port: port2, answers };
  }

  /** A connection for the main thread, which is not blocked. */
  control(role: 'control' | 'changes'): ControlConnection {
    return new ControlConnection(this.channel(role));
  }

  /** Call it when no thread needs its connection any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    if (!this.#isClosing) this.#onFatal(error);
  }
}

/** Starts a thread of this folder, which gets the port of its channel. */
export function startThread(
  script: 'server-worker' | 'postgres-writer' | 'postgres-reader' | 'postgres-stores' | 'postgres-backup',
  data: Record<string, unknown> & { channel?: ServerChannel },
): Worker {
  const transferList = data.channel ? [data.channel.port] : [];
  return startScript(script, import.meta.url, { workerData: data, transferList });
}
