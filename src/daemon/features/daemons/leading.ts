import { whenAborted } from '../../../shared/async/when-aborted.ts';
import type { Members } from './members.ts';

type Watched = Pick<Members, 'isLeader' | 'onChange'>;

/**
 * Runs `work` whenever this daemon is the leader, until `signal` is aborted. The signal of the work is aborted when it no
 * longer is. Resolves once the work has ended.
 */
export async function whileLeading(
  members: Watched,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    if (members.isLeader()) await leadOnce(members, signal, work);
    else await nextChange(members, signal);
  }
}

async function leadOnce(
  members: Watched,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const leading = new AbortController();
  const ended = work(leading.signal);
  while (members.isLeader() && !signal.aborted) await nextChange(members, signal);
  leading.abort(signal.reason);
  await ended;
}

/** Resolves with the next change of what this daemon knows of the others, or once aborted. */
export async function nextChange(members: Pick<Members, 'onChange'>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stops = [members.onChange(resolve), whenAborted(signal, resolve)];
  await promise;
  for (const stop of stops) stop();
}
