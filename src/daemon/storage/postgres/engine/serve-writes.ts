import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { whenAborted } from '../../../../shared/when-aborted.ts';
import { ownDaemon } from '../../sqlite/daemons/own-daemon.ts';
import { DatabaseUnusable, DataNeedsRepair } from '../../sqlite/engine/errors.ts';
import { readMeta, writeMeta } from '../../sqlite/engine/meta.ts';
import { type FromWriter, lazyRunner, type ToWriter } from '../../sqlite/engine/serve-writes.ts';
import type { BatchEngine, BatchResult, BatchTotals, Operation } from '../../sqlite/engine/write-batch.ts';
import { markOpen, requireMasterKeys, requireSoundBalances } from '../../sqlite/mark-open.ts';
import { createCommands } from '../../sqlite/write-commands.ts';
import { asSqliteConnection, openConnection, type PostgresConnection } from './connection.ts';
import { isCollision, isConnectionLost, postgresCode } from './errors.ts';
import type { ServerChannel } from './messages.ts';
import { renewMs, Term, TermEnded, takeTerm } from './term.ts';

const collisionsMax = 8;
/** How often a lost connection is opened again, in milliseconds. */
const reconnectMs = 250;

const engine: Omit<BatchEngine, 'afterBegin'> = {
  begin: 'BEGIN',
  codeOf: postgresCode,
  endsBatch: (error) => {
    const code = postgresCode(error);
    return (
      error instanceof TermEnded ||
      isConnectionLost(code) ||
      isCollision(code) ||
      /^(53|57|58|25006|XX00[12])/.test(code ?? '')
    );
  },
  kindOf: (error) => {
    if (error instanceof TermEnded) return 'fatal';
    const code = postgresCode(error);
    if (isConnectionLost(code)) return 'lost';
    return code === '53100' ? 'full' : 'failed';
  },
};

/**
 * Runs the writer thread: executes the batches that arrive on `port` over the only connection that writes. A batch whose
 * connection is lost is repeated over the next one, unless the count of commits shows that it was committed.
 */
export function serveWrites(
  port: MessagePort,
  { channel, at }: { channel: ServerChannel; at: number },
): void {
  const send = (message: FromWriter) => port.postMessage(message);
  let writer: Promise<BatchWriter> | undefined;
  const ended = new AbortController();

  const handle = async (message: ToWriter): Promise<void> => {
    if ('batch' in message) {
      const open = await writer;
      if (open) send(await open.run(message.batch));
    } else if ('open' in message) {
      writer = BatchWriter.open(openConnection(channel), { at, send, ended: ended.signal });
      await writer;
      send({ opened: true });
    } else if ('close' in message) {
      (await writer)?.close(message.close.lastSeen);
      send({ closed: true });
      port.close();
    } else {
      ended.abort();
      port.close();
      channel.port.close();
    }
  };

  port.on('message', (message: ToWriter) => {
    handle(message).catch((error: unknown) => {
      const died = error instanceof Error ? error.message : String(error);
      send({ died, cause: causeOf(error) });
      port.close();
      channel.port.close();
    });
  });
}

function causeOf(error: unknown) {
  if (error instanceof DatabaseUnusable) return 'unusable';
  return error instanceof DataNeedsRepair ? 'damage' : 'failure';
}

interface WriterOptions {
  at: number;
  send: (message: FromWriter) => void;
  ended: AbortSignal;
}

/** What belongs to one connection. */
interface WriterSession {
  run: ReturnType<typeof lazyRunner>;
  term: Term;
  totals: BatchTotals;
}

class BatchWriter {
  readonly #connection: PostgresConnection;
  readonly #options: WriterOptions;
  readonly #daemon: number;
  readonly #renewal: NodeJS.Timeout;
  #session: WriterSession;
  #commits = 0;
  #previous: Promise<unknown> = Promise.resolve();

  /** Registers the daemon once no other one has the database. */
  static async open(connection: PostgresConnection, options: WriterOptions): Promise<BatchWriter> {
    const database = asSqliteConnection(connection);
    await takeTerm(connection, () => {
      requireSoundBalances(database, false);
      requireMasterKeys(database);
      markOpen(database, options.at);
      new Term(connection, ownDaemon(database)).check();
    });
    return new BatchWriter(connection, options);
  }

  constructor(connection: PostgresConnection, options: WriterOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#daemon = ownDaemon(asSqliteConnection(connection));
    this.#session = this.#prepare();
    this.#renewal = setInterval(() => this.#renew().catch(() => {}), renewMs);
    whenAborted(options.ended, () => clearInterval(this.#renewal));
  }

  /** Batches run one after the other. */
  run(operations: Operation[]): Promise<BatchResult> {
    const result = this.#previous.then(() => this.#runNow(operations));
    this.#previous = result.catch(() => {});
    return result;
  }

  /** An empty batch checks and renews the term. */
  async #renew(): Promise<void> {
    const result = await this.run([]);
    if ('failure' in result && result.failure.kind === 'fatal')
      this.#options.send({ died: result.failure.message, cause: 'failure' });
  }

  async #runNow(operations: Operation[]): Promise<BatchResult> {
    for (let collisions = 0; ; ) {
      const result = await this.#session.run(operations);
      if (!('failure' in result)) return result;
      const { kind, code, ifCommitted } = result.failure;
      if (kind === 'lost') {
        const commits = this.#commits;
        this.#options.send({ unreachable: result.failure.message });
        await this.#reconnect();
        this.#options.send({ reachable: true });
        if (ifCommitted && this.#commits > commits) return ifCommitted;
      } else if (isCollision(code) && collisions < collisionsMax) {
        collisions += 1;
        await sleep(Math.random() * 2 ** collisions);
      } else return result;
    }
  }

  close(lastSeen: number): void {
    clearInterval(this.#renewal);
    const database = asSqliteConnection(this.#connection);
    try {
      database.transaction(() => {
        const { term, totals } = this.#session;
        term.check();
        totals.close();
        term.end();
        writeMeta(database, 'clean_shutdown', 1);
        writeMeta(database, 'last_seen', lastSeen);
      })();
    } catch (error) {
      // Without the mark, the next start compares more.
      if (!isConnectionLost(postgresCode(error))) throw error;
    } finally {
      this.#connection.close();
    }
  }

  /** All statements and what they keep in memory start over with a connection. */
  #prepare(): WriterSession {
    const database = asSqliteConnection(this.#connection);
    const source = createCommands(database);
    const term = new Term(this.#connection, this.#daemon);
    this.#commits = readMeta(database, 'commits') ?? 0;
    const count = {
      beforeCommit: () => writeMeta(database, 'commits', this.#commits + 1),
      afterCommit: () => {
        this.#commits += 1;
      },
    };
    const run = lazyRunner(database, source, {
      count,
      engine: { ...engine, afterBegin: () => term.check() },
    });
    return { run, term, totals: source.totals };
  }

  async #reconnect(): Promise<void> {
    for (;;) {
      this.#options.ended.throwIfAborted();
      try {
        this.#connection.reconnect();
        this.#session = this.#prepare();
        return;
      } catch (error) {
        if (!isConnectionLost(postgresCode(error))) throw error;
        await sleep(reconnectMs);
      }
    }
  }
}
