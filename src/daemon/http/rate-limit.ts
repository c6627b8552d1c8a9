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
