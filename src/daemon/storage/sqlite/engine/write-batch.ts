import type { Connection } from './connection.ts';
import { isDamage, sqliteCode } from './errors.ts';

/** A write: the name of a command and plain data for it. */
export type Operation = readonly [name: string, data: unknown];

export type Commands = Record<string, (data: never) => unknown>;

export interface OperationFailure {
  index: number;
  /** SQLite's name of the failure, if it was SQLite's. */
  code: string | undefined;
  message: string;
}

/**
 * `full`: the disk is; the next batch may succeed. `fatal`: the file can be trusted no longer (after a failed sync the
 * system may have dropped pages). `failed`: anything else, such as a lock that another program held too long.
 */
export interface BatchFailure {
  kind: 'full' | 'fatal' | 'failed';
  code: string | undefined;
  message: string;
}

/** Either all operations but the `failed` ones are on disk, or, with `failure`, none. */
export type BatchAnswer = { results: unknown[]; failed: OperationFailure[] } | { failure: BatchFailure };

/** Sums of the running batch, written once before its COMMIT. */
interface BatchSums {
  begin(): void;
  flush(): void;
  revert(): void;
}

/**
 * Makes the function that runs a batch in one transaction. Each operation fails alone. That would take a SAVEPOINT
 * an operation, so a batch is first tried without any, and run again with them only when one of its operations fails.
 */
export function batchRunner(database: Connection, commands: Commands, sums: BatchSums) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const savepoint = database.prepare('SAVEPOINT operation');
  const release = database.prepare('RELEASE operation');

  const run = ([name, data]: Operation): unknown => {
    const command = commands[name];
    if (!command) throw new Error(`there is no command ${name}`);
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
    sums.begin();
    try {
      begin.run();
      const results = operations.map(each);
      sums.flush();
      commit.run();
      return results;
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      sums.revert();
      throw error;
    }
  };

  return (operations: readonly Operation[]): BatchAnswer => {
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

/** Whether a failure is the file's or the system's rather than one operation's. */
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
