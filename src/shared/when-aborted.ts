interface AbortListener {
  listener: () => void;
  /** Position in its list; -1 once removed. */
  index: number;
}

const listeners = Symbol('abort listeners');

type WatchedSignal = AbortSignal & { [listeners]?: AbortListener[] };

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
  const entry: AbortListener = { listener, index: all.length };
  all.push(entry);
  return () => removeListener(all, entry);
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
    (this.signal as WatchedSignal)[listeners] = [];
  }

  override abort(reason?: unknown): void {
    super.abort(reason);
    callAll(this.signal);
  }
}

/** In a member of the signal, as a WeakMap with an entry for each call makes garbage collections slower. */
function listenersOf(signal: WatchedSignal): AbortListener[] {
  const known = signal[listeners];
  if (known) return known;
  const all: AbortListener[] = [];
  signal[listeners] = all;
  signal.addEventListener('abort', onAbort);
  return all;
}

/** One function for all signals: a closure for each would outlive it. */
function onAbort({ target }: Event): void {
  callAll(target as WatchedSignal);
}

function callAll({ [listeners]: all = [] }: WatchedSignal): void {
  for (let entry = all.pop(); entry; entry = all.pop()) {
    entry.index = -1;
    entry.listener();
  }
}

/** Fills the gap with the last entry, so that removal takes constant time. */
function removeListener(all: AbortListener[], entry: AbortListener): void {
  const { index } = entry;
  if (index < 0) return;
  entry.index = -1;
  const last = all.pop();
  if (last === undefined || last === entry) return;
  all[index] = last;
  last.index = index;
}
