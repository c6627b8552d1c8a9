import { eventually } from './eventually.ts';

/**
 * Repeats a call while its daemon is unavailable. One that shares its database is while it does not learn what others have
 * changed, as on a machine with much else to do.
 */
export function whenAvailable<T extends { status: number }>(call: () => Promise<T>): Promise<T> {
  return eventually(
    'the daemon is available',
    async () => {
      const answer = await call();
      return answer.status !== 503 && answer;
    },
    { everyMs: 100 },
  );
}

/** The same for a stream, as soon as it has a status. */
export function streamWhenAvailable<T extends { status: number; started: Promise<void> }>(
  begin: () => T,
): Promise<T> {
  return whenAvailable(async () => {
    const stream = begin();
    await stream.started;
    return stream;
  });
}
