const names = ['SIGTERM', 'SIGINT'] as const;

/** Hears of requests to stop: SIGTERM, SIGINT, and the signal that is handed in. */
export function stopRequests(stop: AbortSignal) {
  let heard = 0;
  const waiting: { count: number; resolve: () => void }[] = [];
  const onRequest = () => {
    heard += 1;
    for (const { count, resolve } of waiting) if (heard >= count) resolve();
  };
  for (const name of names) process.on(name, onRequest);
  if (stop.aborted) onRequest();
  else stop.addEventListener('abort', onRequest, { once: true });
  const after = (count: number) =>
    new Promise<void>((resolve) => {
      if (heard >= count) resolve();
      else waiting.push({ count, resolve });
    });
  return {
    /** Resolves at the first request. */
    first: after(1),
    /** Resolves at the second: somebody is in a hurry. */
    second: after(2),
    ignore(): void {
      for (const name of names) process.off(name, onRequest);
      stop.removeEventListener('abort', onRequest);
    },
  };
}
