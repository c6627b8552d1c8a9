import { fstatSync } from 'node:fs';

interface Parent {
  /** The id of the parent of this process now. */
  pid(): number;
  /** What is called at the end of standard input. Undefined if that is no connection to another program. */
  stdinEnd: ((onEnd: () => void) => void) | undefined;
}

const checkMs = 1_000;

const ofProcess: Parent = {
  pid: () => process.ppid,
  get stdinEnd() {
    return isConnection(0) ? whenStdinEnds : undefined;
  },
};

function whenStdinEnds(onEnd: () => void): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve());
  process.stdin.resume();
  void promise.then(onEnd);
}

/**
 * Calls back when the program that started this one is gone and cannot have meant it to stay: npm, which passes on no SIGTERM and
 * otherwise waits for what it runs, or one whose end of standard input is closed. Returns a function that ends the watch.
 */
export function watchParent(
  env: Readonly<Record<string, string | undefined>>,
  onGone: () => void,
  parent: Parent = ofProcess,
): () => void {
  const isRunByNpm = env.npm_config_user_agent !== undefined;
  const { stdinEnd } = parent;
  if (!isRunByNpm && stdinEnd === undefined) return () => {};
  const first = parent.pid();
  const timer = setInterval(() => {
    if (parent.pid() === first) return;
    clearInterval(timer);
    if (isRunByNpm) onGone();
    // Not before: it may contain a passphrase.
    else stdinEnd?.(onGone);
  }, checkMs).unref();
  return () => clearInterval(timer);
}

/** Whether a stream is a pipe or socket. */
function isConnection(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}
