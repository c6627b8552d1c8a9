import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves to what `look` gives once that is neither undefined nor false; rejects when it took too long. For what can
 * only be seen from outside: a row in a database, a connection that is gone.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 60_000 } = {},
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms: ${what}`);
    await wait(5);
  }
}
