const usualMs = 5_000;

/** Looks at something again and again, each 5000 milliseconds unless told, until it is stopped. Keeps no process running. */
export function lookEvery(look: () => Promise<void>, everyMs = usualMs): { stop(): void } {
  const timer = setInterval(() => void look(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
