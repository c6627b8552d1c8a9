import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { whenAborted } from '../../../../shared/async/when-aborted.ts';
import { messageOf } from '../../../../shared/faults/message-of.ts';
import type { Renewal } from '../../../features/daemons/members.ts';
import { watchMainThread } from '../../../worker-threads/watch-main-thread.ts';
import type { Connection } from '../../sqlite/engine/connection.ts';
import { DatabaseUnusable, DataNeedsRepair } from '../../sqlite/engine/errors.ts';
import { noteTime, writeMeta } from '../../sqlite/engine/meta.ts';
import { type FromWriter, lazyRunner, type ToWriter } from '../../sqlite/engine/serve-writes.ts';
import type { BatchEngine, BatchResult, KeptTotals, Operation } from '../../sqlite/engine/write-batch.ts';
import { markOpen, requireMasterKeys, requireSoundBalances } from '../../sqlite/mark-open.ts';
import { createCommands } from '../../sqlite/write-commands.ts';
import { asSqliteConnection, openConnection, type PostgresConnection } from './connection.ts';
import { CommitsLost, isCollision, isConnectionLost, postgresCode } from './errors.ts';
import type { ServerChannel } from './messages.ts';
import { recordingChanges } from './recorded-changes.ts';
import { joining, renewMs, Term, TermEnded } from './term.ts';

const collisionsMax = 8;
/** How often a lost connection is opened again, in milliseconds. */
const reconnectMs = 250;

const engine: Omit<BatchEngine, 'afterBegin'> = {
  begin: 'BEGIN',
  codeOf: postgresCode,
  endsBatch: (error) => {
    const code = postgresCode(error);
    return (
      isFatal(error) ||
      isConnectionLost(code) ||
      isCollision(code) ||
      /^(53|57|58|25006|XX00[12])/.test(code ?? '')
    );
  },
  kindOf: (error) => {
    if (isFatal(error)) return 'fatal';
    const code = postgresCode(error);
    if (isConnectionLost(code)) return 'lost';
    return code === '53100' ? 'full' : 'failed';
  },
};

function isFatal(error: unknown): boolean {
  return error instanceof TermEnded || error instanceof CommitsLost;
}

export interface WriterData {
  channel: ServerChannel;
  /** Wall clock at the start, milliseconds since 1970. */
  at: number;
  /** The version that the schema has to have. */
  schemaVersion: number;
}

/**
 * Runs the writer thread: executes the batches that arrive on `port` over the only connection that writes. A batch whose
 * connection is lost is repeated over the next one, unless the daemon's count of commits shows that it was committed.
 */
export function serveWrites(port: MessagePort, { channel, at, schemaVersion }: WriterData): void {
  const send = (message: FromWriter) => port.postMessage(message);
  let writer: Promise<BatchWriter> | undefined;
  const ended = new AbortController();
  let endWatch = () => {};

  const handle = async (message: ToWriter): Promise<void> => {
    if ('batch' in message) {
      const open = await writer;
      if (open) send(await open.run(message.batch));
    } else if ('open' in message) {
      writer = BatchWriter.open(openConnection(channel), { at, schemaVersion, send, ended: ended.signal });
      await writer;
      send({ opened: true });
    } else if ('watch' in message) {
      endWatch = watchMainThread(message.watch);
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

  port.on('close', () => endWatch());
  port.on('message', (message: ToWriter) => {
    handle(message).catch((error: unknown) => {
      const died = messageOf(error);
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

interface WriterOptions extends Omit<WriterData, 'channel'> {
  send: (message: FromWriter) => void;
  ended: AbortSignal;
}

/** What belongs to one connection. */
interface WriterSession {
  run: ReturnType<typeof lazyRunner>;
  term: Term;
  totals: KeptTotals;
  /** Checks the term, and reads what other daemons have changed; first in each transaction. */
  begin: () => void;
}

class BatchWriter {
  readonly #connection: PostgresConnection;
  readonly #options: WriterOptions;
  readonly #daemon: number;
  readonly #renewal: NodeJS.Timeout;
  #session: WriterSession;
  /** The daemon's own commits that are known, without that of the running batch. */
  #commits = 0;
  #previous: Promise<unknown> = Promise.resolve();
  #reported: Renewal | undefined;

  /** Registers the daemon. */
  static async open(connection: PostgresConnection, options: WriterOptions): Promise<BatchWriter> {
    const database = asSqliteConnection(connection);
    const join = joining(connection, (register) => {
      requireSchema(database, options.schemaVersion);
      requireSoundBalances(database, false);
      requireMasterKeys(database);
      return markOpen(database, options.at, () => register(options.at)).daemon;
    });
    const writer = new BatchWriter(connection, await repeated(connection, join), options);
    const result = await writer.run([]);
    if ('failure' in result) throw new DatabaseUnusable(result.failure.message);
    return writer;
  }

  constructor(connection: PostgresConnection, daemon: number, options: WriterOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#daemon = daemon;
    this.#session = this.#prepare();
    this.#renewal = setInterval(() => this.#renew().catch(() => {}), renewMs);
    whenAborted(options.ended, () => clearInterval(this.#renewal));
  }

  /** Batches run one after the other. */
  run(operations: readonly Operation[]): Promise<BatchResult> {
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

  async #runNow(operations: readonly Operation[]): Promise<BatchResult> {
    for (let collisions = 0; ; ) {
      const result = await this.#session.run(operations);
      if (!('failure' in result)) {
        this.#report();
        return result;
      }
      const { kind, code, ifCommitted } = result.failure;
      if (kind === 'lost') {
        this.#options.send({ unreachable: result.failure.message });
        const commits = await this.#reconnect();
        this.#options.send({ reachable: true });
        if (ifCommitted && commits > this.#commits) return ifCommitted;
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
        const { term, totals, begin } = this.#session;
        begin();
        totals.close();
        term.count();
        term.end();
        writeMeta(database, 'clean_shutdown', 1);
        noteTime(database, lastSeen);
      })();
    } catch (error) {
      // Without the mark, the next start compares more.
      if (!isConnectionLost(postgresCode(error))) throw error;
    } finally {
      this.#connection.close();
    }
  }

  /** Passes on what a renewal found, once it is committed. */
  #report(): void {
    const { renewal } = this.#session.term;
    if (renewal === undefined || renewal === this.#reported) return;
    this.#reported = renewal;
    this.#options.send({ renewal });
  }

  /** All statements and what they keep in memory start over with a connection. */
  #prepare(): WriterSession {
    const database = asSqliteConnection(this.#connection);
    const source = recordingChanges(createCommands(database, this.#daemon), {
      connection: this.#connection,
      daemon: this.#daemon,
    });
    const term = new Term(this.#connection, this.#daemon);
    const { totals } = source;
    /** Commits of all daemons that `totals` know of. */
    let known: number | undefined;
    const begin = () => {
      const { all, own } = term.check();
      if (own < this.#commits) throw new CommitsLost();
      this.#commits = own;
      if (all === known) return;
      totals.reload();
      known = all;
    };
    const count = {
      beforeCommit: () => term.count(),
      afterCommit: () => {
        this.#commits += 1;
        if (known !== undefined) known += 1;
      },
    };
    const run = lazyRunner(database, source, { count, engine: { ...engine, afterBegin: begin } });
    return { run, term, totals, begin };
  }

  /** Resolves to the number of the daemon's own commits that the server has. */
  async #reconnect(): Promise<number> {
    for (;;) {
      this.#options.ended.throwIfAborted();
      try {
        this.#connection.reconnect();
        this.#session = this.#prepare();
        return this.#session.term.commits();
      } catch (error) {
        if (!isConnectionLost(postgresCode(error))) throw error;
        await sleep(reconnectMs);
      }
    }
  }
}

/**
 * Runs a transaction until it no longer collides with one of another daemon. A connection that is lost meanwhile, as the server
 * ends one whose daemon was paused, is opened again; the transaction may then run twice. Fails if the server is away.
 */
async function repeated<Result>(connection: PostgresConnection, transaction: () => Result): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return transaction();
    } catch (error) {
      const code = postgresCode(error);
      const isLost = isConnectionLost(code);
      if ((!isLost && !isCollision(code)) || failures > collisionsMax) throw error;
      if (isLost) connection.reconnect();
      else await sleep(Math.random() * 2 ** failures);
    }
  }
}

/** A newer version may have changed the schema since this daemon looked at it. */
function requireSchema(database: Connection, expected: number): void {
  const found = database.prepare<[], number>('SELECT max(version) FROM migrations').pluck().get();
  if (found !== expected)
    throw new DatabaseUnusable('Another version of Gateway has changed the schema of the database.');
}
