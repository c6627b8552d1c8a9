/** A value that is bound to a parameter of a statement. */
export type Value = null | number | bigint | string | Uint8Array;

/** A statement with its values; without a statement, the rest of what an earlier one returned. */
export interface Step {
  /** The number of a statement that is sent often, with its text until that is known. */
  statement?: number | undefined;
  /** With `$1`, `$2` …. */
  sql?: string | undefined;
  values: readonly Value[];
  /** Whether only the number of changed rows is needed. */
  isSilent?: boolean;
  /** Rows to return at most; all without it. With a portal, more can follow until the end of the transaction. */
  limit?: number;
  portal?: string;
}

/**
 * Messages to the thread that speaks to the server, each answered by one `FromServer`. `steps` are sent together and run in
 * order until one fails; `script` is text of several statements without values.
 */
export type ToServer = { steps: readonly Step[] } | { script: string } | { connect: true };

export interface StepResult {
  columns: string[];
  /** Integers, booleans (1 or 0) and decimals as numbers, binary data as `Uint8Array`, all else as text. */
  rows: (null | number | string | Uint8Array)[][];
  /** Rows that were inserted, updated or deleted. */
  changes: number;
  /** Whether more rows can follow from the portal. */
  isSuspended: boolean;
}

export interface ServerFailure {
  /** SQLSTATE; `08006` when the connection was lost, after which it is unknown what was done. */
  code: string;
  message: string;
}

export interface FromServer {
  /** Of the steps before the one that failed; of silent ones the number of changed rows. */
  results: (StepResult | number)[];
  failure?: ServerFailure;
  /** Whether a transaction is open, or has failed and waits for its ROLLBACK. */
  inTransaction: boolean;
}

/** What another thread needs to reach the server: a port for messages, and a counter of answers to wait on. */
export interface ServerChannel {
  port: import('node:worker_threads').MessagePort;
  answers: SharedArrayBuffer;
}
