import { ApiError } from '../../src/shared/errors.ts';

/** The ApiError that a promise fails with. */
export async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError was thrown', { cause: error });
  return error;
}
