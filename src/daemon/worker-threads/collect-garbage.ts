import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects the garbage of this thread, and gives what it can of its heap back to the system. */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  // Options are those of all threads: another one may have reset this one already.
  const collect = runInNewContext('globalThis.gc') as ((options: object) => void) | undefined;
  v8.setFlagsFromString('--no-expose-gc');
  collect?.({ type: 'major', flavor: 'last-resort' });
}
