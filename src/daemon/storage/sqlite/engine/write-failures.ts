import { ApiError } from '../../../../shared/errors.ts';
import type { BatchFailure, OperationFailure } from './write-batch.ts';

/** One write that failed alone: `conflict` where something of that id exists, otherwise a fault of ours. */
export function failureOfOperation(name: string, { code, message }: OperationFailure): Error {
  const cause = new Error(`${name}: ${code ?? 'error'}: ${message}`);
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/.test(code ?? ''))
    return new ApiError('conflict', { cause });
  return cause;
}

/** A whole batch that failed: nothing of it was kept, and trying again later may work. */
export function failureOfBatch({ kind, code, message }: BatchFailure): ApiError {
  return new ApiError('unavailable', {
    message:
      kind === 'full' ? 'The disk is full: nothing can be stored.' : 'Nothing can be stored right now.',
    cause: new Error(`${code ?? 'error'}: ${message}`),
  });
}

/** The writer itself is gone; whether the write was kept is not known. */
export function failureOfEngine(cause: Error): ApiError {
  return new ApiError('unavailable', { message: 'Nothing can be stored any more.', cause });
}

/** A write that came when none are taken any more. */
export function refusal(reason: string): ApiError {
  return new ApiError('unavailable', { message: `Nothing can be stored: ${reason}.` });
}
