import type { World } from '../world.ts';

/** What is waited for, or undefined when it has not come within so many milliseconds. */
export async function inTime<T>(
  { ms, sleep }: { ms: number; sleep: World['sleep'] },
  awaited: Promise<T>,
): Promise<T | undefined> {
  const come = new AbortController();
  const tooLate = sleep(ms, come.signal).then(
    () => undefined,
    (error: unknown): undefined => {
      if (!come.signal.aborted) throw error;
    },
  );
  try {
    return await Promise.race([awaited, tooLate]);
  } finally {
    // With a reason given, none is made: an exception with its stack costs more than all the rest here.
    come.abort('come');
  }
}
