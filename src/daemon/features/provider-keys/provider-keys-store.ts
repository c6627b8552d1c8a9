import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { SealedSecret } from '../vault/index.ts';

/** A workspace's own key for a provider, as far as it may be shown. */
export interface ProviderKeyRecord {
  workspaceId: string;
  provider: KnownProvider;
  /** The first 12 hex digits of SHA-256 over the key. */
  fingerprint: string;
  addedAt: number;
  updatedAt: number;
}

/** Times in milliseconds since 1970. Each method is one transaction. */
export interface ProviderKeysStore {
  /** In the order of their names. */
  list(workspaceId: string): Promise<ProviderKeyRecord[]>;
  /**
   * Adds or replaces; `addedAt` of one that is replaced stays. False, and nothing is changed, when the secret was sealed
   * under a master that is not the current one any more, or is not the next version of what is there.
   */
  put(record: ProviderKeyRecord, secret: SealedSecret): Promise<boolean>;
  /** Whether there was one. */
  delete(workspaceId: string, provider: KnownProvider): Promise<boolean>;
}
