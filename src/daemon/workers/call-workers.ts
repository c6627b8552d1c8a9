import { createServer } from 'node:net';
import { join } from 'node:path';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';
import { connectionsMaxFor, openFilesMax } from '../http/protection/limits.ts';
import type { HttpServer, ListenAddress } from '../http/server.ts';
import type { Captured } from '../storage/content/content-messages.ts';
import type { SharedChanges } from '../storage/shared-changes.ts';
import type { WorkerLoad, Workers } from '../wiring/workers.ts';
import { startScript } from '../worker-threads/start-script.ts';
import { ThreadLink } from '../worker-threads/thread-link.ts';
import type { LogLine, ToMain, ToWorker, WorkerData } from './messages.ts';
import type { Observed } from './observed.ts';

/** Both semi-spaces together, in MB: more saves little CPU, and each worker would keep it. */
const youngGenerationMb = 32;

export interface CallWorkersOptions {
  /** How many threads. */
  count: number;
  changes: SharedChanges<Worker>;
  log: Log;
  /** Called once when a worker has ended by itself: what it did for its clients is lost. */
  onDeath: (reason: Error) => void;
  /** Starts another script, for tests. */
  start?: (data: WorkerData) => Worker;
}

/** What the workers hand to the main thread. */
interface Takers {
  observed(observed: Observed): void;
  content(captured: Captured): void;
  contentDropped(calls: number): void;
}

type StartData = Omit<WorkerData, 'database' | 'socketFile' | 'connectionsMax'> & {
  databaseFile: string;
  /** A port to the writer of the database. */
  connect: () => MessagePort;
};

interface RunningWorker {
  thread: Worker;
  link: ThreadLink<ToWorker, ToMain>;
}

/** The main thread’s side of the workers. */
export class CallWorkers implements Workers {
  readonly count: number;
  readonly #options: CallWorkersOptions;
  #workers: RunningWorker[] = [];
  #providers: readonly ProviderDescription[] | undefined;
  #isClosing = false;

  constructor(options: CallWorkersOptions) {
    this.#options = options;
    this.count = options.count;
  }

  /** Starts the threads, and returns a server of all of them and of the main thread. Rejects if one cannot start. */
  async start(server: HttpServer, data: StartData, takers: Takers): Promise<HttpServer> {
    const socketFile = join(data.config.dataFolder, 'workers.sock');
    this.#workers = Array.from({ length: this.count }, () => this.#start({ ...data, socketFile }, takers));
    try {
      await this.#askAll('ready', undefined);
    } catch (error) {
      await this.#close();
      throw error;
    }
    if (this.#providers !== undefined) this.showProviders(this.#providers);
    // One that has ended has nothing left to do.
    const askAll = (name: 'leave' | 'drain', deadlineMs: number) =>
      Promise.all(this.#workers.map(({ link }) => link.ask(name, deadlineMs).catch(() => {})));
    return {
      ...server,
      listen: (address) => this.#listen(server, address, socketFile),
      async leave(deadlineMs) {
        await Promise.all([askAll('leave', deadlineMs), server.leave(deadlineMs)]);
      },
      async drain(deadlineMs) {
        await Promise.all([askAll('drain', deadlineMs), server.drain(deadlineMs)]);
      },
      close: async () => {
        await this.#close();
        await server.close();
      },
    };
  }

  /** Applies settings that can change while calls run. */
  async reload(config: Config): Promise<void> {
    await this.#askAll('reload', config);
    if (this.#providers !== undefined) this.showProviders(this.#providers);
  }

  async cancel(call: { workspaceId: string; requestId: string }): Promise<boolean> {
    return (await this.#askAll('cancel', call)).includes(true);
  }

  async retry(bench: ToWorker['retry'][0]): Promise<void> {
    await this.#askAll('retry', bench);
  }

  refusals(provider: string): Promise<ToWorker['refusals'][1][]> {
    return this.#askAll('refusals', provider);
  }

  load(): Promise<WorkerLoad[]> {
    return this.#askAll('load', undefined);
  }

  readonly showProviders = (descriptions: readonly ProviderDescription[]): void => {
    // Functions stay in their thread; workers have their own of the providers that they call.
    this.#providers = descriptions.map(({ wiresOf: _, ...description }) => description);
    for (const { link } of this.#workers) link.tell('providers', this.#providers);
  };

  showWires(...[workspaceId, windows]: Parameters<Workers['showWires']>): void {
    for (const { link } of this.#workers) link.tell('wires', { workspaceId, windows });
  }

  #start(data: StartData & { socketFile: string }, takers: Takers): RunningWorker {
    const { changes, log, onDeath, start = startWorker } = this.#options;
    const { databaseFile, connect, ...others } = data;
    const database = { file: databaseFile, port: connect() };
    const thread = start({ ...others, database, connectionsMax: this.#connectionsMax() });
    const link = new ThreadLink<ToWorker, ToMain>(thread, {
      observed: (batch) => {
        for (const observed of batch) takers.observed(observed);
      },
      changes: (made) => changes.receive(thread, made),
      content: ({ captured, bytes, dropped }) => {
        takers.content(captured);
        if (dropped > 0) takers.contentDropped(dropped);
        link.tell('contentTaken', bytes);
      },
      log: (line) => void writeLine(log, line),
    });
    changes.join(thread, (made) => link.ask('changes', made));
    let cause: Error | undefined;
    thread.on('error', (error) => {
      cause = error;
    });
    thread.on('exit', (code) => {
      const reason = new Error(`a worker ended with code ${code}`, { cause });
      changes.leave(thread);
      link.end(reason);
      if (!this.#isClosing) onDeath(reason);
    });
    return { thread, link };
  }

  async #listen(server: HttpServer, address: ListenAddress, behindThreads: string) {
    const { host } = address;
    const port = await freePort(host === 'localhost' ? '127.0.0.1' : host, address.port);
    const listening = await server.listen({ ...address, port, behindThreads });
    await this.#askAll('listen', { host, port });
    return listening;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    // One that has ended closes nothing any more.
    await Promise.all(
      this.#workers.map(async ({ thread, link }) => {
        await link.ask('close', undefined).catch(() => {});
        await thread.terminate();
      }),
    );
  }

  #askAll<N extends keyof ToWorker>(name: N, question: ToWorker[N][0]): Promise<ToWorker[N][1][]> {
    return Promise.all(this.#workers.map(({ link }) => link.ask(name, question)));
  }

  /** A forwarded request has three open files: one for its client, and both ends of a connection between threads. */
  #connectionsMax(): number | undefined {
    const files = openFilesMax();
    return files && Math.max(16, Math.floor((connectionsMaxFor(files) * 2) / 3 / this.count));
  }
}

function startWorker(data: WorkerData): Worker {
  return startScript('call-worker', import.meta.url, {
    workerData: data,
    transferList: [data.database.port],
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
}

function writeLine(log: Log, { level, details, message }: LogLine): void {
  log[level](details, message);
}

/**
 * A port on which no one listens; fails as listening on it would. Threads share theirs, and would share it with another
 * process of this user, too.
 */
async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  probe.once('error', reject);
  probe.listen({ host, port, exclusive: true }, resolve);
  await promise;
  const bound = probe.address();
  await new Promise((closed) => probe.close(closed));
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}
