import { ApiError } from '../../../shared/errors.ts';
import type { Change, ChangeOf, Changes, Topic } from '../../base/changes.ts';
import type { Log } from '../../base/log.ts';
import type { LocalChanges } from '../local-changes.ts';
import type { ControlConnection } from './control-connection.ts';
import { CommitsLost, isConnectionLost, postgresCode } from './engine/errors.ts';
import { presenceLocks, serverClock } from './engine/locks.ts';
import { keptMs } from './engine/recorded-changes.ts';

/** How often the changes of other daemons are read, in milliseconds. */
const pollMs = 250;
/** How long after the last poll was sent what is kept in memory may answer, in milliseconds. */
const currentMs = 1000;
const pageSize = 500;
const retryAfterSeconds = 1;
/** How often reading begins before the start of the daemon fails. */
const attemptsMax = 3;

/** One row at least. Numbers have no gaps, as a lock orders all transactions that write. */
const pollSql = `SELECT (SELECT value FROM meta WHERE name = 'commits') AS commits,
    (SELECT count(*) FROM daemons WHERE successor IS NULL AND expires_at > ${serverClock}) AS daemons,
    number, daemon, changes, at
  FROM (SELECT 1) AS always LEFT JOIN changes ON number > $1 ORDER BY number LIMIT ${pageSize}`;
const presenceSql = 'SELECT pg_try_advisory_lock($1::integer, $2::integer) AS "isPresent"';
const lastSql = 'SELECT number, daemon, at FROM changes ORDER BY number DESC LIMIT 1';
/** Whether a change is stored; also if it was stored so long ago that newer ones have replaced it. */
const isStoredSql = `SELECT EXISTS (SELECT 1 FROM changes WHERE number = $1 AND daemon = $2 AND at = $3)
    OR ($3 < ${serverClock} - ${keptMs} AND EXISTS (SELECT 1 FROM changes WHERE number > $1)) AS "isStored"`;

/** Which change was applied last. Another one can have its number on a server that had not received it. */
interface Mark {
  number: number;
  daemon: number;
  /** By the clock of the server, in milliseconds since 1970. */
  at: number;
}

/** Changes that were not applied yet are no longer stored. */
class ChangesMissed extends Error {
  constructor() {
    super('this daemon has not read changes of others for an hour; it has to start again');
    this.name = 'ChangesMissed';
  }
}

interface PolledRow extends Omit<Mark, 'number'> {
  commits: number | null;
  daemons: number;
  number: number | null;
  /** JSON text. */
  changes: string;
}

export interface DaemonChangesOptions {
  /** A connection of its own, not open yet. */
  connection: ControlConnection;
  /** The number of this daemon, whose writes announce their changes themselves. */
  daemon: number;
  /** The changes of this daemon. */
  local: LocalChanges;
  /** Called with the number of daemons that serve the database. */
  onCount: (daemons: number) => void;
  /** Stores changes for the other daemons. */
  store: (changes: readonly Change[]) => Promise<void>;
  log: Log;
  onFatal: (reason: Error) => void;
}

/**
 * The changes of all daemons of a database. Those of others are read every 250 ms and applied in order; a poll counts only once
 * all its changes are applied.
 */
export class DaemonChanges implements Changes {
  readonly #options: DaemonChangesOptions;
  #isOver = false;
  /** Ends the pause before the next poll. */
  #resume = () => {};
  #last: Mark = { number: 0, daemon: 0, at: 0 };
  #commits: number | null = null;
  #daemons = 1;
  /** When the last poll was sent whose changes are applied, in milliseconds of `performance.now()`. */
  #currentAt = Number.NEGATIVE_INFINITY;
  #onCurrent = Promise.withResolvers<void>();
  #catchUp: Promise<void> | undefined;
  #isConnected = false;
  /** Whether this connection says that the daemon runs. */
  #isPresent = false;
  #hasFailed = false;

  /** Reads from now on: what is kept in memory is read later. Rejects with `PostgresError`. */
  static async open(options: DaemonChangesOptions): Promise<DaemonChanges> {
    const changes = new DaemonChanges(options);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await changes.#begin();
        break;
      } catch (error) {
        // The server has just served others; on a busy machine, it may not have answered in time.
        if (!isConnectionLost(postgresCode(error)) || attempt >= attemptsMax) throw error;
      }
    }
    void changes.#run();
    return changes;
  }

  async #begin(): Promise<void> {
    await this.#connect();
    const [last] = await this.#options.connection.query(lastSql);
    if (last) this.#last = last as unknown as Mark;
    await this.#poll();
  }

  private constructor(options: DaemonChangesOptions) {
    this.#options = options;
  }

  subscribe<T extends Topic>(topic: T, apply: (change: ChangeOf<T>) => unknown): void {
    this.#options.local.subscribe(topic, apply);
  }

  current(): Promise<void> | undefined {
    if (performance.now() - this.#currentAt < currentMs) return undefined;
    this.#catchUp ??= this.#untilCurrent();
    this.#resume();
    return this.#catchUp;
  }

  async announce(changes: readonly Change[]): Promise<void> {
    await this.#options.store(changes);
    await this.#options.local.announce(changes);
  }

  close(): void {
    this.#isOver = true;
    this.#resume();
    this.#options.connection.close();
  }

  async #untilCurrent(): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new ApiError('unavailable', { retryAfterSeconds })),
      currentMs,
    );
    try {
      await Promise.race([this.#onCurrent.promise, late.promise]);
    } finally {
      clearTimeout(timer);
      this.#catchUp = undefined;
    }
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#pause();
      if (this.#isOver) return;
      try {
        if (!this.#isConnected) await this.#connect();
        await this.#poll();
        this.#hasFailed = false;
      } catch (error) {
        this.#isConnected = false;
        if (!this.#hasFailed)
          this.#options.log.warn({ err: error }, 'the changes of other daemons could not be read');
        this.#hasFailed = true;
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs).unref();
      this.#resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #connect(): Promise<void> {
    const { connection } = this.#options;
    this.#isPresent = false;
    await connection.connect();
    const { number, daemon, at } = this.#last;
    if (number > 0) {
      const [row] = await connection.query(isStoredSql, [number, daemon, at]);
      if (!row?.isStored) throw this.#ended(new CommitsLost());
    }
    this.#isConnected = true;
  }

  async #poll(): Promise<void> {
    const sentAt = performance.now();
    // After a lost connection, the server may still have the previous one.
    if (!this.#isPresent) this.#isPresent = await this.#takePresence();
    for (;;) {
      const rows = (await this.#options.connection.query(pollSql, [
        this.#last.number,
      ])) as unknown as PolledRow[];
      await this.#apply(rows);
      this.#noteCommits(rows[0]);
      if (rows.length < pageSize) break;
    }
    this.#currentAt = sentAt;
    if (performance.now() - sentAt >= currentMs) return;
    this.#onCurrent.resolve();
    this.#onCurrent = Promise.withResolvers();
  }

  async #takePresence(): Promise<boolean> {
    const { connection, daemon } = this.#options;
    const [row] = await connection.query(presenceSql, [presenceLocks, daemon]);
    return Boolean(row?.isPresent);
  }

  /** Repeated with the next poll if one cannot be applied. */
  async #apply(rows: readonly PolledRow[]): Promise<void> {
    const { local, daemon: own } = this.#options;
    for (const { number, daemon, at, changes } of rows) {
      if (number === null) return;
      if (number !== this.#last.number + 1) throw this.#ended(new ChangesMissed());
      if (daemon !== own) await local.announce(JSON.parse(changes) as Change[]);
      this.#last = { number, daemon, at };
    }
  }

  /** Ends the process, as what it keeps in memory cannot be brought up to date. */
  #ended(reason: Error): Error {
    this.#isOver = true;
    this.#options.onFatal(reason);
    return reason;
  }

  #noteCommits(row: PolledRow | undefined): void {
    const { local, log, onCount } = this.#options;
    const commits = row?.commits ?? null;
    const hadOthers = this.#daemons > 1;
    this.#daemons = Math.max(1, row?.daemons ?? 1);
    onCount(this.#daemons);
    if (commits === this.#commits) return;
    this.#commits = commits;
    // What this daemon commits wakes those who wait for it itself.
    if (!hadOthers && this.#daemons <= 1) return;
    local
      .announce([{ topic: 'written' }])
      .catch((error: unknown) => log.warn({ err: error }, 'followers could not be woken'));
  }
}
