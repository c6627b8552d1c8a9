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
  /** The token that made it, which it does not outlive; null if a login did. */
  makerId: string | null;
}

/** Each method is one transaction. */
export interface TokensStore {
  /** Returns false if the token that makes it is revoked. */
  insert(record: TokenRecord): Promise<boolean>;
  byDigest(digest: string): Promise<TokenRecord | undefined>;
  /** A user's tokens that are not revoked, newest first. */
  list(userId: string): Promise<TokenRecord[]>;
  /** Revokes one of a user's tokens with those that it made, or all; returns the ids of those that were active. */
  revoke(userId: string, tokenId: string | undefined, at: number): Promise<string[]>;
  /** Stores when tokens were last used; called periodically, not at each use. */
  touch(uses: { id: string; at: number }[]): Promise<void>;
}
