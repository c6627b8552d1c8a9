import { whenAborted } from '../../shared/async/when-aborted.ts';
import { watchParent } from './watch-parent.ts';

const names = ['SIGTERM', 'SIGINT'] as const;

/** Counts requests to stop: SIGTERM, SIGINT, the given signal, and the end of a program that should have passed on a signal. */
export function stopRequests(stop: AbortSignal, env: Readonly<Record<string, string | undefined>>) {
  let count = 0;
  const waiting: { after: number; resolve: () => void }[] = [];
  const onRequest = () => {
    count += 1;
    for (const { after, resolve } of waiting) if (count >= after) resolve();
  };
  for (const name of names) process.on(name, onRequest);
  const stopWatching = whenAborted(stop, onRequest);
  const leaveParent = watchParent(env, onRequest);
  const nth = (after: number) =>
    new Promise<void>((resolve) => {
      if (count >= after) resolve();
      else waiting.push({ after, resolve });
    });
  return {
    /** Resolves at the first request. */
    first: nth(1),
    /** Resolves at the second request. */
    second: nth(2),
    ignore(): void {
      for (const name of names) process.off(name, onRequest);
      stopWatching();
      leaveParent();
    },
  };
}
