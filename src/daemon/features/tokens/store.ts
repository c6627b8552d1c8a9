import type { Ability } from '../../../shared/contract/endpoint.ts';

/** A stored access token, without its secret. Times in milliseconds since 1970. */
export interface TokenRecord {
  id: string;
  userId: string;
  /** SHA-256 of the whole secret, lowercase hex. */
  digest: string;
  name: string;
  abilities: Ability[];
  createdAt: number;
  /** Null if it does not expire. */
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** Each method is one transaction. */
export interface TokensStore {
  insert(record: TokenRecord): Promise<void>;
  byDigest(digest: string): Promise<TokenRecord | undefined>;
  /** A user's tokens that are not revoked, newest first. */
  list(userId: string): Promise<TokenRecord[]>;
  /** Revokes one of a user's tokens, or all; returns the ids of those that were active. */
  revoke(userId: string, tokenId: string | undefined, at: number): Promise<string[]>;
  /** Stores when tokens were last used; called periodically, not at each use. */
  touch(uses: { id: string; at: number }[]): Promise<void>;
}
