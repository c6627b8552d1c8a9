import type { ScopeName } from '../../../shared/contract/endpoint.ts';
import type { ActionName } from '../../../shared/contract/key-limits.ts';
import type { KeyDefaults, KeyLimits } from '../../handler.ts';

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
  /** The only models and actions that it was issued for; null for all. */
  models: string[] | null;
  actions: ActionName[] | null;
  /** What its owner holds it to; null for nothing. */
  limits: KeyLimits | null;
  /** What holds for its calls that do not say; null where the host decides all of it. */
  defaults: KeyDefaults | null;
  createdAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** Times in milliseconds since 1970. Each method is one transaction. */
export interface KeysStore {
  /** Whether it was: not when the key that issues it is revoked. */
  insert(record: KeyRecord): Promise<boolean>;
  byDigest(digest: string): Promise<KeyRecord | undefined>;
  byId(workspaceId: string, keyId: string): Promise<KeyRecord | undefined>;
  /** Newest first; `after` is the id of the last key of the page before. */
  list(workspaceId: string, page: { limit: number; after: string | undefined }): Promise<KeyRecord[]>;
  /** Revokes it and all that descend from it: the ids of those that were active. Empty when there is no such active key. */
  revoke(workspaceId: string, keyId: string, at: number): Promise<string[]>;
  /** Whether there is such a key; its owner and status do not matter. */
  setLimits(workspaceId: string, keyId: string, limits: KeyLimits | null): Promise<boolean>;
  /** As `setLimits`. */
  setDefaults(workspaceId: string, keyId: string, defaults: KeyDefaults | null): Promise<boolean>;
  /** Notes when keys were last used; called now and then, not at each use. */
  touch(uses: { keyId: string; at: number }[]): Promise<void>;
}
