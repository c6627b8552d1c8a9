import { setTimeout as wait } from 'node:timers/promises';

/**
 * Polls `look` until it returns neither undefined nor false; rejects after a time limit. For what can
 * only be observed from outside: a row in a database, a closed connection. A look that starts a program costs a copy of this
 * process: `everyMs` lets it look less often.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 120_000, everyMs = 5 } = {},
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms: ${what}`);
    await wait(everyMs);
  }
}
