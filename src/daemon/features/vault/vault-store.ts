/** Where a master key is kept. `passphrase`: in the database, sealed by what somebody types. */
export type MasterStoreName = 'file' | 'keychain' | 'passphrase' | 'plain';

/** What is remembered of a master key; never the key. */
export interface MasterRecord {
  /** 16 hex digits. */
  kid: string;
  store: MasterStoreName;
  /** Opens with the right key only. */
  proof: string;
  /** The key under a passphrase; null for the other stores. */
  wrapped: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** A secret as it is kept: it opens with the master `kid` and under its own name and version only. */
export interface SealedSecret {
  /** What it is for and whose: `provider-key|ws_…|openai`. */
  name: string;
  /** Counts from 1 and up with each value. */
  version: number;
  kid: string;
  wrappedKey: string;
  sealed: string;
}

/** Each method is one transaction. */
export interface VaultStore {
  current(): Promise<MasterRecord | undefined>;
  /** Masters that a rotation gave up and that are not dropped yet. */
  retired(): Promise<MasterRecord[]>;
  secret(name: string): Promise<SealedSecret | undefined>;
  secrets(): Promise<SealedSecret[]>;
  secretsCount(): Promise<number>;
  /** Takes the first master. False when there is a master already, whose secrets another would bury. */
  addMaster(record: MasterRecord): Promise<boolean>;
  /**
   * Makes another master the current one and puts every secret under it. False, and nothing is changed, when
   * `rewrapped` is not each secret as it is now, or `from` is no longer the current master.
   */
  rotate(rotation: { from: string; to: MasterRecord; rewrapped: SealedSecret[] }): Promise<boolean>;
  /** Forgets a retired master. */
  dropMaster(kid: string): Promise<void>;
}
