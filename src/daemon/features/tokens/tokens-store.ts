import type { Ability } from '../../../shared/contract/endpoint.ts';

/** An access token as it is kept: never the secret, only its digest. Times in milliseconds since 1970. */
export interface TokenRecord {
  id: string;
  userId: string;
  /** SHA-256 of the whole secret, lower-case hex. */
  digest: string;
  name: string;
  abilities: Ability[];
  createdAt: number;
  /** Null: it does not expire. */
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** Each method is one transaction. */
export interface TokensStore {
  insert(record: TokenRecord): Promise<void>;
  byDigest(digest: string): Promise<TokenRecord | undefined>;
  /** Those of a user that were not revoked, newest first. */
  list(userId: string): Promise<TokenRecord[]>;
  /** Revokes one of a user, or all; the ids of those that it ended. */
  revoke(userId: string, tokenId: string | undefined, at: number): Promise<string[]>;
  /** Notes when tokens were last used; called now and then, not at each use. */
  touch(uses: { id: string; at: number }[]): Promise<void>;
}
