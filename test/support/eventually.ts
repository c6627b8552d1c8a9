import { setTimeout as wait } from 'node:timers/promises';

/** What takes longer is looked for less often: it is found later by this part of its time at most. */
const laterBy = 0.1;
const seldomMs = 50;

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
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const waited = performance.now() - start;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await wait(Math.max(everyMs, Math.min(waited * laterBy, seldomMs)));
  }
}
