import { runInNewContext } from 'node:vm';

/**
 * Runs work that takes a moment, on an input with which anything slower than linear time would take hours, and returns its
 * result. After a minute it is stopped and fails.
 */
export function ends<T>(work: () => T): T {
  return runInNewContext('work()', { work }, { timeout: 60_000 });
}
