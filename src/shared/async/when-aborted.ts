import { type Listed, TransientList } from './transient.ts';

interface AbortListener extends Listed {
  listener: () => void;
}

const listeners = Symbol('abort listeners');

type WatchedSignal = AbortSignal & { [listeners]?: TransientList<AbortListener> };

/**
 * Calls `listener` once when a signal is aborted, or immediately if it already is. Returns a function that removes the
 * listener. For signals of calls and those that many calls share: `addEventListener` takes time proportional to a
 * signal's listeners, and all that its closures refer to outlives the call, until the next full garbage collection.
 */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const all = listenersOf(signal);
  const entry: AbortListener = { listener, place: -1 };
  all.add(entry);
  return () => all.delete(entry);
}

/** Calls `listener` once for each signal that is aborted, as `whenAborted`. Returns a function that removes it from all. */
export function whenAnyAborted(signals: readonly AbortSignal[], listener: () => void): () => void {
  const removals = signals.map((signal) => whenAborted(signal, listener));
  return () => {
    for (const remove of removals) remove();
  };
}

/**
 * Settles with the work, or fails with `reason` as soon as the signal is aborted: the work may not notice. By default the
 * reason is the signal's.
 */
export async function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reason: () => unknown = () => signal.reason,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stopWatching = whenAborted(signal, () => aborted.reject(reason()));
  // The one that loses the race may fail, too.
  work.catch(() => {});
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    stopWatching();
  }
}

/**
 * A controller whose signal calls the listeners of `whenAborted` without an event: to add and dispatch one takes longer than
 * all else that such a signal does in a call that is not aborted.
 */
export class CallAbortController extends AbortController {
  constructor() {
    super();
    (this.signal as WatchedSignal)[listeners] = new TransientList();
  }

  override abort(reason?: unknown): void {
    super.abort(reason);
    callAll(this.signal);
  }
}

/** In a member of the signal, as a WeakMap with an entry for each call makes garbage collections slower. */
function listenersOf(signal: WatchedSignal): TransientList<AbortListener> {
  const known = signal[listeners];
  if (known) return known;
  const all = new TransientList<AbortListener>();
  signal[listeners] = all;
  signal.addEventListener('abort', onAbort);
  return all;
}

/** One function for all signals: a closure for each would outlive it. */
function onAbort({ target }: Event): void {
  callAll(target as WatchedSignal);
}

function callAll({ [listeners]: all }: WatchedSignal): void {
  for (let entry = all?.takeLast(); entry; entry = all?.takeLast()) entry.listener();
}
