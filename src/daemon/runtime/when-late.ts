/**
 * Calls `then` after a time, unless the returned function is called first because something has come. Timers run before sockets
 * are read: after a pause of this process, what arrived meanwhile has yet to be read.
 */
export function whenLate(ms: number, then: () => void): () => void {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(then);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
