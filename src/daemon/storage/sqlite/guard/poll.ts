/** Calls `check` every `everyMs` milliseconds until stopped. Keeps no process running. */
export function poll(check: () => Promise<void>, everyMs = 5_000): { stop(): void } {
  const timer = setInterval(() => void check(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
