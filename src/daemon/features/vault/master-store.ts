/** Stores the master key outside of the database. All methods fail with a MasterStoreFailure. */
export interface MasterStore {
  /**
   * Returns the keys stored under this id, or that may be it. `isInteractive`: a person is waiting and can be asked for a
   * password.
   */
  find(kid: string, options: { isInteractive: boolean }): Promise<Uint8Array[]>;
  /**
   * Stores a new key and returns the one to use: `fresh`, read back, or an existing key for which `isUsed` is false. Never
   * replaces a key.
   */
  add(kid: string, fresh: Uint8Array, isUsed: (key: Uint8Array) => boolean): Promise<Uint8Array>;
  /** Deletes the key, unless the store belongs to the user. */
  delete(kid: string): Promise<void>;
}

/** The store cannot be used now; `message` has the reason and the remedy. */
export class MasterStoreFailure extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'MasterStoreFailure';
  }
}

/** Reads the passphrase file. Fails with a MasterStoreFailure. */
export type ReadPassphrase = () => Promise<string>;

/** The stores that are set up on this host, in the order in which they are tried for the first master. */
export interface MasterStores {
  file?: MasterStore | undefined;
  keychain?: MasterStore | undefined;
  plain?: MasterStore | undefined;
}
