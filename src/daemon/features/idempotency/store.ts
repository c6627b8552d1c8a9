/** The claim of one call on a key. */
export interface KeyClaim {
  /** The namespace of the key, since each caller has its own. */
  scope: string;
  key: string;
  /** SHA-256 of the request, in hexadecimal. */
  fingerprint: string;
  requestId: string;
  startedAt: number;
  /** Until then the call counts as running. */
  leaseUntil: number;
  expiresAt: number;
}

/** An answer to replay: its own headers, and its bytes. */
export interface StoredAnswer {
  headers: Record<string, string>;
  body: Uint8Array;
}

/** An answer with the key to store it under. */
export interface SlotAnswer extends StoredAnswer, Pick<KeyClaim, 'scope' | 'key'> {}

export type Claimed =
  | { state: 'mine' }
  | { state: 'running'; fingerprint: string }
  | { state: 'done'; fingerprint: string; requestId: string };

export interface IdempotencyStore {
  /**
   * Claims the key for this call, or returns its current state. Atomic: exactly one of several duplicates gets `mine`. A
   * key is free if it has expired at `startedAt` or its running call's lease is over.
   */
  claim(claim: KeyClaim): Promise<Claimed>;
  /** Whether a call that has not ended holds the key. */
  isRunning(key: Pick<KeyClaim, 'scope' | 'key'>): Promise<boolean>;
  /** Stores the answer of the call that owns the key, replacing one that was stored with its settlement. */
  finish(claim: Pick<KeyClaim, 'scope' | 'key' | 'requestId'>, answer: StoredAnswer): Promise<void>;
  /** Releases the key of a call without an answer to store. */
  release(claim: Pick<KeyClaim, 'scope' | 'key' | 'requestId'>): Promise<void>;
  answer(scope: string, key: string): Promise<StoredAnswer | undefined>;
  /** Releases the keys of calls that a daemon did not finish. */
  releaseLeft(daemon: number): Promise<number>;
  removeExpired(at: number, limit: number): Promise<number>;
}
