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
  /** When it got its present secret; null for that of its issue. */
  rotatedAt: number | null;
  /** Since when its calls are refused; null unless it is paused. */
  pausedAt: number | null;
}

/** A secret that a key had before it was rotated. */
export interface PreviousSecret {
  /** SHA-256 of the whole secret, lowercase hex. */
  digest: string;
  keyId: string;
  workspaceId: string;
  hint: string;
  replacedAt: number;
  /** It works before this time. */
  endsAt: number;
  /** The last use after it was replaced. */
  lastUsedAt: number | null;
}

/** A new secret in place of the one that the key has. */
export interface Rotation {
  workspaceId: string;
  keyId: string;
  /** The digest of the secret that is replaced. */
  before: string;
  digest: string;
  hint: string;
  at: number;
  /** When the replaced secret ends; undefined to end it and all earlier ones at once. */
  endsAt: number | undefined;
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
  /** Returns false if the key is revoked, or if its secret is not `before` any more. Of 8 previous secrets, the oldest ends. */
  rotate(rotation: Rotation): Promise<boolean>;
  /** Pauses or, with null, resumes a key. Returns false if it is revoked or was so already. */
  setPaused(workspaceId: string, keyId: string, pausedAt: number | null): Promise<boolean>;
  previousByDigest(digest: string): Promise<PreviousSecret | undefined>;
  /** The previous secrets of a key that are still known, newest first, with those that have ended. */
  previousOf(keyId: string): Promise<PreviousSecret[]>;
  /** Stores when keys were last used; called periodically, not at each use. */
  touch(uses: { keyId: string; at: number }[]): Promise<void>;
  /** The same of previous secrets. Returns those that had not been used since they were replaced. */
  touchPrevious(uses: { digest: string; at: number }[]): Promise<PreviousSecret[]>;
}
