import type { CommitCount } from './commit-count.ts';
import type { Connection } from './connection.ts';
import { isDamage, sqliteCode } from './errors.ts';

/** A write: the name of a command and its plain data. */
export type Operation = readonly [name: string, data: unknown];

export type Commands = Record<string, (data: never) => unknown>;

export interface OperationFailure {
  index: number;
  /** SQLite's error code, if SQLite failed. */
  code: string | undefined;
  message: string;
}

/**
 * `full`: the disk is full; the next batch may succeed. `fatal`: the file can no longer be trusted (after a failed sync
 * the system may have dropped pages). `failed`: anything else, such as a lock that another program held too long.
 */
export interface BatchFailure {
  kind: 'full' | 'fatal' | 'failed';
  code: string | undefined;
  message: string;
}

/** With `failure` nothing was written; otherwise every operation but the `failed` ones is on disk. */
export type BatchResult = { results: unknown[]; failed: OperationFailure[] } | { failure: BatchFailure };

/** Totals of the running batch, written once before its COMMIT. */
export interface BatchTotals {
  begin(): void;
  flush(): void;
  revert(): void;
  /** Writes what the next start needs, in the last transaction before a clean shutdown. */
  close(): void;
}

type Count = Pick<CommitCount, 'beforeCommit' | 'afterCommit'>;

/**
 * Returns a function that runs a batch in one transaction in which each operation can fail alone. To save a SAVEPOINT per
 * operation, a batch first runs without any, and again with them only if an operation failed.
 */
export function batchRunner(database: Connection, commands: Commands, totals: BatchTotals, count?: Count) {
  const begin = database.prepare('BEGIN IMMEDIATE');
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
      if (endsBatch(error) || !database.inTransaction) throw error;
      database.exec('ROLLBACK TO operation; RELEASE operation');
      failed.push({ index, code: sqliteCode(error), message: messageOf(error) });
      return undefined;
    }
  };

  const attempt = (
    operations: readonly Operation[],
    each: (operation: Operation, index: number) => unknown,
  ) => {
    totals.begin();
    try {
      begin.run();
      const results = operations.map(each);
      totals.flush();
      count?.beforeCommit();
      commit.run();
      count?.afterCommit();
      return results;
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      totals.revert();
      throw error;
    }
  };

  return (operations: readonly Operation[]): BatchResult => {
    try {
      return { results: attempt(operations, run), failed: [] };
    } catch (error) {
      if (endsBatch(error)) return { failure: describe(error) };
    }
    const failed: OperationFailure[] = [];
    try {
      const results = attempt(operations, (operation, index) => guarded(operation, index, failed));
      return { results, failed };
    } catch (error) {
      return { failure: describe(error) };
    }
  };
}

/** Whether the file or the system failed, rather than one operation. */
function endsBatch(error: unknown): boolean {
  return (
    isDamage(error) ||
    /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM|READONLY|CANTOPEN)/.test(sqliteCode(error) ?? '')
  );
}

function describe(error: unknown): BatchFailure {
  const code = sqliteCode(error);
  const message = messageOf(error);
  if (code === 'SQLITE_FULL') return { kind: 'full', code, message };
  if (isDamage(error) || code?.startsWith('SQLITE_IOERR')) return { kind: 'fatal', code, message };
  return { kind: 'failed', code, message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
