import type { ScopeName } from '../../../shared/contract/endpoint.ts';
import type { ActionName } from '../../../shared/contract/key-limits.ts';
import type { KeyDefaults, KeyLimits } from '../../base/handler.ts';

/** A stored API key, without its secret. */
export interface KeyRecord {
  id: string;
  workspaceId: string;
  /** The user who issued it, directly or through another key. */
  ownerId: string;
  /** The key that issued it, if one did. */
  parentId: string | null;
  name: string;
  /** SHA-256 of the whole secret, lowercase hex. */
  digest: string;
  /** Prefix, the four characters after it, and the last four: `gwk_aB3d…x9Zk`. */
  hint: string;
  scopes: ScopeName[];
  /** The models and actions it was issued for; null for all. */
  models: string[] | null;
  actions: ActionName[] | null;
  /** Set by its owner; null for none. */
  limits: KeyLimits | null;
  /** Set by its owner; null if the host decides everything. */
  defaults: KeyDefaults | null;
  createdAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** Times in milliseconds since 1970. Each method is one transaction. */
export interface KeysStore {
  /** Returns false if the issuing key is revoked. */
  insert(record: KeyRecord): Promise<boolean>;
  byDigest(digest: string): Promise<KeyRecord | undefined>;
  byId(workspaceId: string, keyId: string): Promise<KeyRecord | undefined>;
  /** Newest first; `after` is the id of the last key of the previous page. */
  list(workspaceId: string, page: { limit: number; after: string | undefined }): Promise<KeyRecord[]>;
  /** Revokes a key and its descendants; returns the ids of those that were active, none if the key was not. */
  revoke(workspaceId: string, keyId: string, at: number): Promise<string[]>;
  /** Returns false if there is no such key, whatever its owner and status, or if its limits are not `before` any more. */
  setLimits(
    workspaceId: string,
    keyId: string,
    limits: KeyLimits | null,
    before?: KeyLimits | null,
  ): Promise<boolean>;
  /** As `setLimits`. */
  setDefaults(
    workspaceId: string,
    keyId: string,
    defaults: KeyDefaults | null,
    before?: KeyDefaults | null,
  ): Promise<boolean>;
  /** Stores when keys were last used; called periodically, not at each use. */
  touch(uses: { keyId: string; at: number }[]): Promise<void>;
}
