import type { Worker } from 'node:worker_threads';

let begin: (() => () => void) | undefined;

/** Has a function called before each start of a thread, and the one that it returns once the thread has started. */
export function aroundThreadStarts(whileStarting: (() => () => void) | undefined): void {
  begin = whileStarting;
}

/** Starts a thread, which has loaded its code when it sends its first message or ends. */
export function aroundStart(start: () => Worker): Worker {
  const end = begin?.();
  try {
    const thread = start();
    if (end) for (const event of ['message', 'exit'] as const) thread.once(event, end);
    return thread;
  } catch (error) {
    end?.();
    throw error;
  }
}
