/** Where a master key is stored. `passphrase`: in the database, sealed with a passphrase. */
export type MasterStoreName = 'file' | 'keychain' | 'passphrase' | 'plain';

/** The record of a master key, without the key. */
export interface MasterRecord {
  /** 16 hex digits. */
  kid: string;
  store: MasterStoreName;
  /** See `proofOf`. */
  proof: string;
  /** The key sealed with a passphrase; null for the other stores. */
  wrapped: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** A stored secret, which opens only with the master `kid` and its own name and version. */
export interface SealedSecret {
  /** Purpose and owner: `provider-key|ws_…|openai`. */
  name: string;
  /** Starts at 1 and increases with each value. */
  version: number;
  kid: string;
  wrappedKey: string;
  sealed: string;
}

/** Each method is one transaction. */
export interface VaultStore {
  current(): Promise<MasterRecord | undefined>;
  /** Masters replaced by a rotation and not deleted yet. */
  retired(): Promise<MasterRecord[]>;
  secret(name: string): Promise<SealedSecret | undefined>;
  secrets(): Promise<SealedSecret[]>;
  secretsCount(): Promise<number>;
  /** Stores a secret. Returns false without a change if its master or version is outdated. */
  putSecret(secret: SealedSecret): Promise<boolean>;
  deleteSecret(name: string): Promise<void>;
  /** Adds the first master. Returns false if there is one already. */
  addMaster(record: MasterRecord): Promise<boolean>;
  /**
   * Makes another master current and reseals every secret. Returns false without a change if `rewrapped` is outdated or
   * `from` is no longer the current master.
   */
  rotate(rotation: { from: string; to: MasterRecord; rewrapped: SealedSecret[] }): Promise<boolean>;
  /** Deletes a retired master. */
  dropMaster(kid: string): Promise<void>;
}
