/** Lets `exit` listeners run also when Vitest ends this process, which it does with SIGTERM. */
export function exitWhenTerminated(): void {
  process.once('SIGTERM', () => process.exit());
}
