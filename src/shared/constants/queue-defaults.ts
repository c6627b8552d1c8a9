/** How calls wait where a limit of concurrent calls says nothing of it. */
export const queueDefaults = {
  /** How long a call waits at most. */
  queueMs: 30_000,
  /** Calls that wait at most. */
  queueMax: 512,
} as const;
