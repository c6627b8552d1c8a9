interface Watch {
  listener: () => void;
  /** Where it is in its list; -1 when it is in none any more. */
  place: number;
}

/** Those who watch each signal, all of them behind one listener. */
const watches = new WeakMap<AbortSignal, Watch[]>();

/**
 * Calls `listener` once when a signal is aborted, at once if it is; the function that comes back ends the watch. For
 * signals that many calls share: adding a listener to a signal itself takes as long as it has listeners.
 */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const all = watches.get(signal) ?? watchesOf(signal);
  const watch: Watch = { listener, place: all.length };
  all.push(watch);
  return () => remove(all, watch);
}

function watchesOf(signal: AbortSignal): Watch[] {
  const all: Watch[] = [];
  watches.set(signal, all);
  const tell = () => {
    for (let watch = all.pop(); watch; watch = all.pop()) {
      watch.place = -1;
      watch.listener();
    }
  };
  signal.addEventListener('abort', tell, { once: true });
  return all;
}

/** The last one takes its place. */
function remove(all: Watch[], watch: Watch): void {
  const { place } = watch;
  if (place < 0) return;
  watch.place = -1;
  const last = all.pop();
  if (last === undefined || last === watch) return;
  all[place] = last;
  last.place = place;
}
