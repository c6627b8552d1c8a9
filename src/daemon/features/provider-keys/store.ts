import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { SealedSecret } from '../vault/index.ts';

/** The public facts of a workspace's own key for a provider. */
export interface ProviderKeyRecord {
  workspaceId: string;
  provider: KnownProvider;
  /** Empty for the one without a name. */
  name: string;
  /** The first 12 hex digits of the key's SHA-256. */
  fingerprint: string;
  addedAt: number;
  updatedAt: number;
}

/** Times in milliseconds since 1970. Each method is one transaction. */
export interface ProviderKeysStore {
  /** Ordered by provider and name. */
  list(workspaceId: string): Promise<ProviderKeyRecord[]>;
  /**
   * Adds or replaces a key; a replaced one keeps its `addedAt`. Returns false without a change if the secret was sealed
   * with an outdated master key, or is not the next version.
   */
  put(record: ProviderKeyRecord, secret: SealedSecret): Promise<boolean>;
  /** False if there was none. */
  delete(workspaceId: string, provider: KnownProvider, name: string): Promise<boolean>;
}
