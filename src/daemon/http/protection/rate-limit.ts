import type { ServerResponse } from 'node:http';
import { ApiError } from '../../../shared/errors.ts';

export interface RateLimitOptions {
  burst: number;
  perSecond: number;
  /** Milliseconds of a clock that only goes forward. */
  elapsed: () => number;
  /** Addresses that are remembered; the one unseen for longest is forgotten first. */
  addressesMax?: number;
}

/** A bucket of tokens for each address. `take` gives 0, or how many seconds to wait for the next token. */
export function addressRateLimit({ burst, perSecond, elapsed, addressesMax = 10_000 }: RateLimitOptions) {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return {
    take(address: string): number {
      const key = network(address);
      const nowMs = elapsed();
      const bucket = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
      const tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
      const taken = tokens >= 1;
      // Deleted first, so that the order of the map is the order of last use.
      buckets.delete(key);
      buckets.set(key, { tokens: taken ? tokens - 1 : tokens, atMs: nowMs });
      if (buckets.size > addressesMax) buckets.delete(buckets.keys().next().value as string);
      return taken ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
    },
    /** Gives a token back that was taken for nothing. */
    giveBack(address: string): void {
      const bucket = buckets.get(network(address));
      if (bucket) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}

export type AddressRateLimit = ReturnType<typeof addressRateLimit>;

/** What is counted as one address. One subscriber of IPv6 has 2⁶⁴ of them: they share a bucket. */
export function network(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [left = '', right] = address.split('::');
  const groups = left === '' ? [] : left.split(':');
  if (right !== undefined) while (groups.length < 4) groups.push('0');
  return groups.slice(0, 4).join(':');
}

const retryAfterSeconds = 30;

/**
 * Counts the open streams of callers without a credential, by their address: they cost nothing and end when their readers
 * wish, and would sooner or later fill every place that there is.
 */
export function publicStreams(max: number) {
  const open = new Map<string, number>();
  return {
    /** One more, until its response is over. Fails with `rate_limited` when the address has as many as it may. */
    enter(address: string, response: ServerResponse): void {
      const place = network(address);
      const count = open.get(place) ?? 0;
      if (count >= max) {
        const message = `At most ${max} streams without a key may be open from one address.`;
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
