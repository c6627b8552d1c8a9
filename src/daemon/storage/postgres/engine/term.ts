import { hostname } from 'node:os';
import { version } from '../../../../shared/version.ts';
import type { Renewal } from '../../../features/daemons/members.ts';
import { termMs } from '../../sqlite/daemons/term-length.ts';
import { readMeta, writeMeta } from '../../sqlite/engine/meta.ts';
import { asSqliteConnection, type PostgresConnection } from './connection.ts';
import { presenceLocks, serverClock, sessionLocks, writeLock } from './locks.ts';
import { monotonicMs } from './monotonic.ts';

/** How often a daemon renews its term, in milliseconds. */
export const renewMs = 2000;

const isLive = `successor IS NULL AND expires_at > ${serverClock}`;

/** Another daemon has taken over the work of this one. */
export class TermEnded extends Error {
  constructor() {
    super('this daemon did not renew its term in time, and another one has taken over its work');
    this.name = 'TermEnded';
  }
}

interface Standing extends Commits {
  isMine: number;
  /** Milliseconds that are left of the term. */
  left: number;
}

/** Commits that a transaction finds: `all` of them, and the daemon's `own`. */
export interface Commits {
  all: number;
  own: number;
}

/**
 * The right of one daemon to write. It is stored, ends if it is not renewed, and each transaction checks it under a lock, so
 * that a daemon that was frozen or cut off can write nothing once another one has taken over its work.
 */
export class Term {
  readonly #daemon: number;
  readonly #statements: ReturnType<typeof termStatements>;
  #renewal: Renewal | undefined;
  #hasSession = false;

  constructor(connection: PostgresConnection, daemon: number) {
    this.#daemon = daemon;
    this.#statements = termStatements(connection);
  }

  /** What the last renewal found; it counts once its transaction is committed. */
  get renewal(): Renewal | undefined {
    return this.#renewal;
  }

  /** Call it first in each transaction. It renews the term now and then. Throws `TermEnded`. */
  check(): Commits {
    const sentAt = monotonicMs();
    this.#statements.lock.run(writeLock);
    const found = this.#statements.standing.get(this.#daemon) as Standing | undefined;
    if (found?.isMine !== 1) throw new TermEnded();
    // Not by the clock of this thread: a renewal may have been rolled back.
    if (!this.#renewal || found.left < termMs - renewMs / 2) this.#renew(sentAt);
    return { all: found.all, own: found.own };
  }

  /** The daemon's own commits. */
  commits(): number {
    return (this.#statements.standing.get(this.#daemon) as Standing | undefined)?.own ?? 0;
  }

  /** Counts the running transaction, as the daemon's own and among all. */
  count(): void {
    this.#statements.countAll.run();
    this.#statements.countOwn.run(this.#daemon);
  }

  /** Ends the term, for a clean stop. Call it in a transaction. */
  end(): void {
    this.#statements.end.run(this.#daemon);
  }

  /** Also takes over the work of daemons whose term has ended. */
  #renew(sentAt: number): void {
    const { renew, survey, openSession } = this.#statements;
    const daemon = this.#daemon;
    renew.run({ daemon, termMs });
    takeOverEnded(this.#statements, daemon);
    this.#renewal = { daemon, sentAt, ...readSurvey(survey.get({ daemon })) };
    // After a lost connection, the previous session may still have it.
    this.#hasSession ||= openSession.get(sessionLocks, daemon) === 1;
  }
}

function readSurvey(row: unknown): Omit<Renewal, 'daemon' | 'sentAt'> {
  const { members, leader, daemon, left } = row as Record<'members' | 'leader' | 'daemon' | 'left', number>;
  return { members, isLeader: leader === daemon, hasLeft: left > 0 };
}

function takeOverEnded(
  { adopt, inherit }: Pick<ReturnType<typeof termStatements>, 'adopt' | 'inherit'>,
  daemon: number,
): void {
  adopt.run({ daemon });
  inherit.run({ daemon });
}

function termStatements(connection: PostgresConnection) {
  return {
    lock: connection.prepare('SELECT pg_advisory_xact_lock(?)'),
    standing: connection.prepare(
      `SELECT successor IS NULL AS "isMine", coalesce(expires_at, 0) - ${serverClock} AS left, batches AS own,
         coalesce((SELECT value FROM meta WHERE name = 'commits'), 0) AS "all" FROM daemons WHERE number = ?`,
    ),
    // If all terms have ended, no daemon could reach the server: the others did not fail, and get another one, too.
    renew: connection.prepare(
      `UPDATE daemons SET expires_at = ${serverClock} + @termMs
       WHERE number = @daemon OR (successor IS NULL AND expires_at IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM daemons WHERE ${isLive}))`,
    ),
    adopt: connection.prepare(
      `UPDATE daemons SET successor = @daemon
       WHERE number <> @daemon AND successor IS NULL AND coalesce(expires_at, 0) <= ${serverClock}`,
    ),
    // What a daemon had taken over when it ended itself.
    inherit: connection.prepare(
      'UPDATE daemons SET successor = @daemon WHERE successor IN (SELECT number FROM daemons WHERE successor = @daemon)',
    ),
    survey: connection.prepare(
      `SELECT count(*) FILTER (WHERE ${isLive}) AS members, min(number) FILTER (WHERE ${isLive}) AS leader,
         count(*) FILTER (WHERE successor = @daemon) AS left, @daemon::bigint AS daemon FROM daemons`,
    ),
    countAll: connection.prepare(
      `INSERT INTO meta (name, value) VALUES ('commits', 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1`,
    ),
    countOwn: connection.prepare('UPDATE daemons SET batches = batches + 1 WHERE number = ?'),
    end: connection.prepare('UPDATE daemons SET expires_at = NULL WHERE number = ?'),
    openSession: connection.prepare('SELECT pg_try_advisory_lock(?::integer, ?::integer)').pluck(),
  };
}

/**
 * Returns a function that runs `open` in a transaction of its own among those of all daemons, which registers the daemon by
 * `register` and returns its number. It can be repeated when it is not known whether it was committed: what an earlier run has
 * registered ends then.
 */
export function joining(
  connection: PostgresConnection,
  open: (register: (startedAt: number) => number) => number,
): () => number {
  let tried: number | undefined;
  return connection.transaction(() => {
    connection.prepare('SELECT pg_advisory_xact_lock(?)').run(writeLock);
    return open((startedAt) => {
      tried = register(connection, startedAt, tried);
      return tried;
    });
  });
}

/** No other daemon ever had the number, nor gets it. `tried` is a number that this one may have. */
function register(connection: PostgresConnection, startedAt: number, tried: number | undefined): number {
  const database = asSqliteConnection(connection);
  const highest = connection.prepare('SELECT max(number) FROM daemons').pluck().get() as number | null;
  const number = Math.max(readMeta(database, 'last_daemon') ?? 0, highest ?? 0) + 1;
  writeMeta(database, 'last_daemon', number);
  const statements = termStatements(connection);
  statements.countAll.run();
  for (const ended of endedHere(connection)) statements.end.run(ended);
  // The server may not have noticed yet that its connection is gone.
  if (tried !== undefined) statements.end.run(tried);
  connection
    .prepare(
      `INSERT INTO daemons (number, started_at, expires_at, name, version) VALUES (?, ?, ${serverClock} + ?, ?, ?)`,
    )
    .run(number, startedAt, termMs, hostname(), version);
  takeOverEnded(statements, number);
  // Before others see the row: without a session, they would take it for one whose process has ended.
  statements.openSession.get(sessionLocks, number);
  return number;
}

/**
 * Daemons of this host whose connections have ended with their process: a restarted one need not wait for the end of the term.
 * One that has lost only that which writes, as after a pause in a transaction, opens it again.
 */
function endedHere(connection: PostgresConnection): number[] {
  const isFree = connection.prepare('SELECT pg_try_advisory_xact_lock(?::integer, ?::integer)').pluck();
  const here = connection.prepare(`SELECT number FROM daemons WHERE name = ? AND ${isLive}`).pluck();
  // A lock that was free is released with this transaction.
  return (here.all(hostname()) as number[]).filter((number) =>
    [sessionLocks, presenceLocks].every((locks) => isFree.get(locks, number) === 1),
  );
}
