/** A stored answer, found by the digest of its request. */
export interface CachedAnswer {
  workspaceId: string;
  /** The call that was answered so; null if an earlier version stored it. */
  requestId: string | null;
  /** SHA-256 of the request, in hexadecimal; nothing else of the request is stored. */
  digest: string;
  /** The catalog's id of the model. */
  model: string;
  /** The model's name at the provider that answered. */
  providerModel: string;
  /** JSON text: the events of the answer. */
  events: string;
  /** In milliseconds since 1970. */
  createdAt: number;
  expiresAt: number;
}

/** The size limits of the cache, over all workspaces. */
export interface CacheBounds {
  entriesMax: number;
  /** Total of the answers' texts. */
  bytesMax: number;
}

export interface CacheStore {
  /** The answer, unless it has expired at `now`. */
  find(workspaceId: string, digest: string, now: number): Promise<CachedAnswer | undefined>;
  /** Marks an answer as used at `now`; the least recently used ones are dropped first. */
  touch(workspaceId: string, digest: string, now: number): Promise<void>;
  /** Stores an answer, replacing an older one, and drops the least recently used ones beyond the bounds. */
  put(answer: CachedAnswer, bounds: CacheBounds): Promise<void>;
  /** Drops the answers of a workspace and returns their number. */
  clear(workspaceId: string): Promise<number>;
  /** The number of a workspace's answers, and the total bytes of their texts. */
  size(workspaceId: string): Promise<{ entries: number; bytes: number }>;
  removeExpired(at: number, limit: number): Promise<number>;
}
