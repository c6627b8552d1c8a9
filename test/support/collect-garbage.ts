import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all garbage of this process synchronously, or that of the young generation. */
export const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

// V8 rejects code that was cached with other options: each thread that is started later would compile its modules again.
setFlagsFromString('--no-expose-gc');

/** Bytes in use on the JavaScript heap, without garbage. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/**
 * Bytes in use on the JavaScript heap and in ArrayBuffers, without garbage. Another thread frees the ArrayBuffers that a
 * collection found, and has done so when the next one starts.
 */
export function usedBytes(): number {
  collectGarbage();
  return heapBytes() + process.memoryUsage().arrayBuffers;
}
