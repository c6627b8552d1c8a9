/** An answer that may be given again, found by the digest of its request. */
export interface CachedAnswer {
  workspaceId: string;
  /** SHA-256 of what was asked, in hexadecimal; nothing else of the request is kept. */
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

/** How much is kept at most, over all workspaces. */
export interface CacheBounds {
  entriesMax: number;
  /** Of the answers' texts. */
  bytesMax: number;
}

export interface CacheStore {
  /** The answer, if there is one that has not expired at `now`. */
  find(workspaceId: string, digest: string, now: number): Promise<CachedAnswer | undefined>;
  /** Notes that an answer was given again at `now`, so that others are dropped before it. */
  touch(workspaceId: string, digest: string, now: number): Promise<void>;
  /** Keeps an answer in the place of an older one, and drops those that were used the longest ago past the bounds. */
  put(answer: CachedAnswer, bounds: CacheBounds): Promise<void>;
  /** Drops the answers of a workspace; gives their number. */
  clear(workspaceId: string): Promise<number>;
  /** How many answers of a workspace are kept, and how long their texts are, in bytes. */
  size(workspaceId: string): Promise<{ entries: number; bytes: number }>;
  removeExpired(at: number, limit: number): Promise<number>;
}
