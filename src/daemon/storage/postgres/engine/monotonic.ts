/** Milliseconds of a clock that is never set and is the same in all threads. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
