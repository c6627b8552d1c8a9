import type { ScopeName } from '../../../shared/contract/endpoint.ts';

/** An API key as it is kept: never the secret, only its digest and what a person recognises it by. */
export interface KeyRecord {
  id: string;
  workspaceId: string;
  /** The user who issued it, or for whom a key issued it. */
  ownerId: string;
  /** The key that issued it, if one did. */
  parentId: string | null;
  name: string;
  /** SHA-256 of the whole secret, lower-case hex. */
  digest: string;
  /** Prefix, the four characters after it, and the last four: `gwk_aB3d…x9Zk`. */
  hint: string;
  scopes: ScopeName[];
  createdAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** Times in milliseconds since 1970. Each method is one transaction. */
export interface KeysStore {
  insert(record: KeyRecord): Promise<void>;
  byDigest(digest: string): Promise<KeyRecord | undefined>;
  byId(workspaceId: string, keyId: string): Promise<KeyRecord | undefined>;
  /** Newest first; `after` is the id of the last key of the page before. */
  list(workspaceId: string, page: { limit: number; after: string | undefined }): Promise<KeyRecord[]>;
  /** Whether this call revoked it: false when there is no such active key. */
  revoke(workspaceId: string, keyId: string, at: number): Promise<boolean>;
  /** Notes when keys were last used; called now and then, not at each use. */
  touch(uses: { keyId: string; at: number }[]): Promise<void>;
}
