import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnusable } from '../../sqlite/engine/errors.ts';
import type { PostgresConnection } from './connection.ts';

/** How long a daemon has the database after it last renewed its term, and how often it does, in milliseconds. */
const termMs = 10_000;
export const renewMs = 2000;

/** Held by each transaction that writes; any numbers that nothing else in the database uses will do. */
const writes = 0x47574157;
/** The first half of the locks that say whose session is open; the second is the number of the daemon. */
const sessions = 0x47574153;

const serverClock = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Another daemon has the database now. */
export class TermEnded extends Error {
  constructor() {
    super('another daemon has taken the database over, because this one did not answer in time');
    this.name = 'TermEnded';
  }
}

/**
 * The right of one daemon to write. It is stored, ends if it is not renewed, and each transaction checks it under a lock, so
 * that a daemon that was frozen or cut off can write nothing once another one has taken over.
 */
export class Term {
  readonly #daemon: number;
  readonly #connection: PostgresConnection;
  readonly #statements: ReturnType<typeof termStatements>;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #hasSession = false;

  constructor(connection: PostgresConnection, daemon: number) {
    this.#connection = connection;
    this.#daemon = daemon;
    this.#statements = termStatements(connection);
  }

  /** Call it first in each transaction. Throws `TermEnded`. */
  check(): void {
    this.#statements.lock.run(writes);
    if (this.#statements.isMine.get(this.#daemon) !== 1) throw new TermEnded();
    const now = performance.now();
    if (now - this.#renewedAt < renewMs / 2) return;
    this.#renewedAt = now;
    this.#statements.renew.run({ daemon: this.#daemon, termMs });
    // After a lost connection, the previous session may still have it.
    this.#hasSession ||= this.#statements.openSession.get(sessions, this.#daemon) === 1;
  }

  /** Ends the term, for a clean stop. Call it in a transaction. */
  end(): void {
    this.#connection.prepare('UPDATE daemons SET expires_at = NULL WHERE number = ?').run(this.#daemon);
  }
}

function termStatements(connection: PostgresConnection) {
  return {
    lock: connection.prepare('SELECT pg_advisory_xact_lock(?)'),
    isMine: connection.prepare('SELECT 1 FROM daemons WHERE number = ? AND successor IS NULL').pluck(),
    renew: connection.prepare(
      `UPDATE daemons SET expires_at = ${serverClock} + @termMs WHERE number = @daemon AND successor IS NULL`,
    ),
    openSession: connection.prepare('SELECT pg_try_advisory_lock(?::integer, ?::integer)').pluck(),
  };
}

/**
 * Runs `open`, which registers a daemon, in a transaction in which no other daemon has the database. Waits for the end of the
 * term of one that no longer renews it; rejects with `DatabaseUnusable` if it does.
 */
export async function takeTerm(connection: PostgresConnection, open: () => void): Promise<void> {
  const isFree = connection.transaction(() => {
    connection.prepare('SELECT pg_advisory_xact_lock(?)').run(writes);
    const holder = holderOf(connection);
    if (holder === undefined) open();
    return holder;
  });
  const first = isFree();
  if (first === undefined) return;
  for (;;) {
    await sleep(renewMs / 4);
    const holder = isFree();
    if (holder === undefined) return;
    if (holder.daemon !== first.daemon || holder.expiresAt > first.expiresAt) {
      throw new DatabaseUnusable(
        'Another daemon is using the database. Stop it first, or choose another database.',
      );
    }
  }
}

interface Holder {
  daemon: number;
  expiresAt: number;
}

/** The daemon that has the database: its term has not ended, and its session is open. */
function holderOf(connection: PostgresConnection): Holder | undefined {
  const holder = connection
    .prepare(
      `SELECT number AS daemon, expires_at AS "expiresAt" FROM daemons
       WHERE successor IS NULL AND expires_at > ${serverClock} ORDER BY expires_at DESC LIMIT 1`,
    )
    .get() as Holder | undefined;
  if (!holder) return undefined;
  // Released with this transaction. A daemon that lost its connection, but not its network, is fenced by the next one, too.
  const isGone = connection
    .prepare('SELECT pg_try_advisory_xact_lock(?::integer, ?::integer)')
    .pluck()
    .get(sessions, holder.daemon);
  return isGone === 1 ? undefined : holder;
}
