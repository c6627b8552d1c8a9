import { messageOf } from '../../../../shared/faults/message-of.ts';
import type { CommitCount } from './commit-count.ts';
import type { Connection } from './connection.ts';
import { isDamage, sqliteCode } from './errors.ts';

/** A write: the name of a command and its plain data. */
export type Operation = readonly [name: string, data: unknown];

export type Commands = Record<string, (data: never) => unknown>;

export interface OperationFailure {
  index: number;
  /** The engine's error code, if the engine failed. */
  code: string | undefined;
  message: string;
}

interface BatchSuccess {
  results: unknown[];
  failed: OperationFailure[];
}

/** What prevents all writes until it has passed. */
export type Obstacle = 'full' | 'locked';

/**
 * `full`: the disk is full; `locked`: another program held a lock too long; the next batch may succeed. `fatal`: the file can
 * no longer be trusted (after a failed sync the system may have dropped pages). `lost`: the connection to the server was
 * lost. `failed`: anything else.
 */
export interface BatchFailure {
  kind: Obstacle | 'fatal' | 'lost' | 'failed';
  code: string | undefined;
  message: string;
  /** The result of the batch if it was committed after all: the connection was lost during its COMMIT. */
  ifCommitted?: BatchSuccess;
}

/** With `failure` nothing was written; otherwise every operation but the `failed` ones is on disk. */
export type BatchResult = BatchSuccess | { failure: BatchFailure };

/** Totals of the running batch, written once before its COMMIT. */
export interface BatchTotals {
  begin(): void;
  flush(): void;
  revert(): void;
  /** Writes what the next start needs, in the last transaction before a clean shutdown. */
  close(): void;
}

/** Totals that keep some of the database in memory from one batch to the next. */
export interface KeptTotals extends BatchTotals {
  /** Reads that again: call it in a transaction before its first operation, if another writer has changed the database. */
  reload(): void;
}

type Count = Pick<CommitCount, 'beforeCommit' | 'afterCommit'>;

/** How an engine begins a transaction, and what its errors mean. */
export interface BatchEngine {
  begin: string;
  /** Called in each transaction, first. What it throws fails the batch. */
  afterBegin?: () => void;
  codeOf(error: unknown): string | undefined;
  /** Whether the file, the server or the system failed, rather than one operation. */
  endsBatch(error: unknown): boolean;
  kindOf(error: unknown): BatchFailure['kind'];
}

const sqlite: BatchEngine = {
  begin: 'BEGIN IMMEDIATE',
  codeOf: sqliteCode,
  endsBatch: (error) =>
    isDamage(error) ||
    /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM|READONLY|CANTOPEN)/.test(sqliteCode(error) ?? ''),
  kindOf: (error) => {
    const code = sqliteCode(error);
    if (code === 'SQLITE_FULL') return 'full';
    if (/^SQLITE_(BUSY|LOCKED)/.test(code ?? '')) return 'locked';
    return isDamage(error) || code?.startsWith('SQLITE_IOERR') ? 'fatal' : 'failed';
  },
};

/** The connection was lost during a COMMIT. */
class UnknownCommit extends Error {
  readonly results: unknown[];

  constructor(results: unknown[], options: ErrorOptions) {
    super('the connection was lost during a COMMIT', options);
    this.results = results;
  }
}

/**
 * Returns a function that runs a batch in one transaction in which each operation can fail alone. To save a SAVEPOINT per
 * operation, a batch first runs without any, and again with them only if an operation failed.
 */
export function batchRunner(
  database: Connection,
  commands: Commands,
  totals: BatchTotals,
  { count, engine = sqlite }: { count?: Count; engine?: BatchEngine } = {},
) {
  const begin = database.prepare(engine.begin);
  const commit = database.prepare('COMMIT');
  const savepoint = database.prepare('SAVEPOINT operation');
  const release = database.prepare('RELEASE operation');

  const run = ([name, data]: Operation): unknown => {
    const command = commands[name];
    if (!command) throw new Error(`unknown command ${name}`);
    return command(data as never);
  };

  const guarded = (operation: Operation, index: number, failed: OperationFailure[]): unknown => {
    savepoint.run();
    try {
      const result = run(operation);
      release.run();
      return result;
    } catch (error) {
      if (engine.endsBatch(error) || !database.inTransaction) throw error;
      database.exec('ROLLBACK TO operation; RELEASE operation');
      failed.push({ index, code: engine.codeOf(error), message: messageOf(error) });
      return undefined;
    }
  };

  const endTransaction = (results: unknown[]): void => {
    try {
      commit.run();
    } catch (cause) {
      throw engine.kindOf(cause) === 'lost' ? new UnknownCommit(results, { cause }) : cause;
    }
  };

  const attempt = (
    operations: readonly Operation[],
    each: (operation: Operation, index: number) => unknown,
  ) => {
    totals.begin();
    try {
      begin.run();
      engine.afterBegin?.();
      const results = operations.map(each);
      const counted = operations.length > 0 ? count : undefined;
      if (operations.length > 0) totals.flush();
      counted?.beforeCommit();
      endTransaction(results);
      counted?.afterCommit();
      return results;
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      totals.revert();
      throw error;
    }
  };

  const describe = (error: unknown, failed: OperationFailure[]): BatchFailure => {
    if (error instanceof UnknownCommit) {
      const { cause, results } = error;
      return { ...describe(cause, failed), ifCommitted: { results, failed } };
    }
    return { kind: engine.kindOf(error), code: engine.codeOf(error), message: messageOf(error) };
  };

  return (operations: readonly Operation[]): BatchResult => {
    const failed: OperationFailure[] = [];
    try {
      return { results: attempt(operations, run), failed };
    } catch (error) {
      if (error instanceof UnknownCommit || engine.endsBatch(error))
        return { failure: describe(error, failed) };
    }
    try {
      const results = attempt(operations, (operation, index) => guarded(operation, index, failed));
      return { results, failed };
    } catch (error) {
      return { failure: describe(error, failed) };
    }
  };
}
