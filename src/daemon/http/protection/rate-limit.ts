import type { ServerResponse } from 'node:http';
import { ApiError } from '../../../shared/errors.ts';
import { subscriberNetwork } from '../../../shared/http/network-address.ts';
import { RecentMap } from '../../../shared/recent-map.ts';

export interface RateLimitOptions {
  burst: number;
  perSecond: number;
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number;
  /** How many daemons share the limit; 1 by default. */
  sharedBy?: () => number;
  /** Beyond this number, the least recently seen address is dropped. */
  addressesMax?: number;
}

/** A token bucket per address. `take` returns 0, or the seconds until the next token. */
export function createRateLimit({
  burst: burstOfAll,
  perSecond: perSecondOfAll,
  elapsed,
  sharedBy = () => 1,
  addressesMax = 10_000,
}: RateLimitOptions) {
  const buckets = new RecentMap<string, { tokens: number; atMs: number }>(addressesMax);
  return {
    take(address: string): number {
      const key = subscriberNetwork(address);
      const nowMs = elapsed();
      const burst = Math.max(1, burstOfAll / sharedBy());
      const perSecond = perSecondOfAll / sharedBy();
      const bucket = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
      const tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
      const hasToken = tokens >= 1;
      // Deleted first, so that the order of the map is the order of last use.
      buckets.delete(key);
      buckets.set(key, { tokens: hasToken ? tokens - 1 : tokens, atMs: nowMs });
      return hasToken ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
    },
    /** Returns a token whose request turned out not to count. */
    giveBack(address: string): void {
      const bucket = buckets.get(subscriberNetwork(address));
      if (bucket) bucket.tokens = Math.min(burstOfAll, bucket.tokens + 1);
    },
  };
}

export type AddressRateLimit = ReturnType<typeof createRateLimit>;

const retryAfterSeconds = 30;

/**
 * Limits the open streams per address of callers without a credential: such streams are free and stay open as long as
 * their clients want, and would use up all connections.
 */
export function publicStreams(max: number) {
  const open = new Map<string, number>();
  return {
    /** Counts a stream until its response is closed. Fails with `rate_limited` at the limit. */
    enter(address: string, response: ServerResponse): void {
      const place = subscriberNetwork(address);
      const count = open.get(place) ?? 0;
      if (count >= max) {
        const message = `At most ${max} streams without a key can be open from one address.`;
        throw new ApiError('rate_limited', { message, retryAfterSeconds });
      }
      open.set(place, count + 1);
      response.once('close', () => {
        const left = (open.get(place) ?? 0) - 1;
        if (left > 0) open.set(place, left);
        else open.delete(place);
      });
    },
  };
}

export type PublicStreams = ReturnType<typeof publicStreams>;
