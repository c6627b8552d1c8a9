import type { Wire } from './wires.ts';

/** What the load generator is asked to do; it goes to its process as a message. */
export interface LoadTask {
  port: number;
  wire: Wire;
  headers: Record<string, string>;
  body: string;
  /** Persistent connections, and the maximum of concurrent requests. */
  connections: number;
  /** Requests a second, due at even intervals; undefined sends the next as soon as the last was answered. */
  perSecond: number | undefined;
  /** Tokens that every stream must have; undefined expects JSON. */
  streamTokens: number | undefined;
  /** Whether the provider stamps every token as it leaves, so that its way can be timed. */
  isStamped: boolean;
  warmupMs: number;
  /** Ends earlier after `answersMax` answers. */
  measuredMs: number;
  answersMax?: number;
}

/** Milliseconds. */
export interface Spread {
  p50: number;
  p99: number;
}

export interface LoadResult {
  /** All requests that were answered, those of the warm-up included. */
  served: number;
  /** Answers a second while measuring. */
  answersPerSecond: number;
  tokensPerSecond: number;
  /** How many requests were never sent, answered with which status but 200, not whole, or not at all. */
  failures: Record<string, number>;
  /** Their sum. */
  failed: number;
  /** From when a request was due to its last byte. */
  latency: Spread;
  /** From when a request was sent to its first token. */
  firstToken: Spread;
  /** From the provider to the client, each token. */
  transit: Spread;
}

export function spreadOf(values: number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
