import { ApiError } from '../../../../shared/errors.ts';
import type { BatchFailure, Obstacle, OperationFailure } from './write-batch.ts';

/** Obstacles in words, also for the state of the storage. */
export const obstacles: Readonly<Record<Obstacle, string>> = {
  full: 'the disk is full',
  locked: 'another program has locked the database',
};

export function isObstacle(kind: BatchFailure['kind']): kind is Obstacle {
  return kind === 'full' || kind === 'locked';
}

/** A single write failed: `conflict` if its id exists already, otherwise an internal error. */
export function operationError(name: string, { code, message }: OperationFailure): Error {
  const cause = new Error(`${name}: ${code ?? 'error'}: ${message}`);
  if (/^(SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)|23505)$/.test(code ?? ''))
    return new ApiError('conflict', { cause });
  return cause;
}

/** The whole batch failed and was rolled back; a retry may succeed. */
export function batchError({ kind, code, message }: BatchFailure): ApiError {
  return new ApiError('unavailable', {
    message: isObstacle(kind)
      ? `Cannot write to the database: ${obstacles[kind]}.`
      : 'Cannot write to the database right now.',
    cause: new Error(`${code ?? 'error'}: ${message}`),
  });
}

/** The writer thread died; it is unknown whether the write was committed. */
export function writerDiedError(cause: Error): ApiError {
  return new ApiError('unavailable', { message: 'The database failed. Restart the daemon.', cause });
}

/** Writes are no longer accepted. */
export function refusedError(reason: string): ApiError {
  return new ApiError('unavailable', { message: `Cannot write to the database: ${reason}.` });
}
