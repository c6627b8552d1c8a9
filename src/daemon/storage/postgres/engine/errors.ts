import type { ServerFailure } from './messages.ts';

/** The SQLSTATE of a connection that was lost. */
export const connectionLost = '08006';

/** A failure of a statement, or of the connection. */
export class PostgresError extends Error {
  /** SQLSTATE, such as `23505`. */
  readonly code: string;

  constructor({ code, message }: ServerFailure) {
    super(message);
    this.name = 'PostgresError';
    this.code = code;
  }
}

/**
 * The server lacks what it had committed for this daemon: a standby has become the primary server without having received it, or an
 * earlier state was restored. What the daemon keeps in memory no longer agrees with the database.
 */
export class CommitsLost extends Error {
  constructor() {
    super('the database server has lost what it had committed; this daemon has to start again');
    this.name = 'CommitsLost';
  }
}

/** The SQLSTATE of a failure; undefined for other errors. */
export function postgresCode(error: unknown): string | undefined {
  return error instanceof PostgresError ? error.code : undefined;
}

/** Whether the connection was lost or cannot be opened now: by the network, or because the server stops, starts or has too many. */
export function isConnectionLost(code: string | undefined): boolean {
  return /^(08|57P0[1-5]|53300)/.test(code ?? '');
}

/** Whether a transaction can succeed if it is run again: it collided with another one, or waited too long for it. */
export function isCollision(code: string | undefined): boolean {
  return code === '40001' || code === '40P01' || code === '55P03';
}
