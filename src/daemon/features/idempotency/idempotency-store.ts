/** Who has a key: one call at a time, then its answer until the key expires. */
export interface KeyClaim {
  /** Whose keys these are: a key means something else to each caller. */
  scope: string;
  key: string;
  /** SHA-256 of what was asked, in hexadecimal. */
  fingerprint: string;
  requestId: string;
  startedAt: number;
  /** Until then the call counts as running, though nobody may be left to finish it. */
  leaseUntil: number;
  expiresAt: number;
}

/** An answer that is given again: the headers that belong to it, and its bytes. */
export interface KeptAnswer {
  headers: Record<string, string>;
  body: Uint8Array;
}

/** An answer, and the key that it is kept for. */
export interface PlacedAnswer extends KeptAnswer, Pick<KeyClaim, 'scope' | 'key'> {}

export type Claimed =
  | { state: 'mine' }
  | { state: 'running'; fingerprint: string }
  | { state: 'done'; fingerprint: string; requestId: string };

export interface IdempotencyStore {
  /**
   * Takes the key for this call, or tells who has it: one step, of which exactly one of many twins comes out with
   * `mine`. A key that has expired at `startedAt`, or whose running call's lease is over, is free.
   */
  claim(claim: KeyClaim): Promise<Claimed>;
  /** Keeps the answer of the call that has the key, also in the place of one that was kept with its settlement. */
  finish(claim: Pick<KeyClaim, 'scope' | 'key' | 'requestId'>, answer: KeptAnswer): Promise<void>;
  /** Gives back the key of a call that has no answer to keep. */
  release(claim: Pick<KeyClaim, 'scope' | 'key' | 'requestId'>): Promise<void>;
  answer(scope: string, key: string): Promise<KeptAnswer | undefined>;
  /** Frees the keys of calls that were running when an earlier daemon ended; to be called before the first call. */
  releaseAll(): Promise<number>;
  removeExpired(at: number, limit: number): Promise<number>;
}
