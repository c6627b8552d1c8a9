/** A place outside of the database for the master key. All fail with a MasterStoreFailure. */
export interface MasterStore {
  /**
   * The keys that are there under this id, or that may be the one; none when there is none, as far as it can tell.
   * `isAwaited`: somebody is there who may be asked for a password, and waits.
   */
  find(kid: string, options: { isAwaited: boolean }): Promise<Uint8Array[]>;
  /**
   * Keeps a new key and gives back the one to use: `fresh`, read back, or a key that somebody put there and that
   * `isUsed` does not know. Never replaces one.
   */
  keep(kid: string, fresh: Uint8Array, isUsed: (key: Uint8Array) => boolean): Promise<Uint8Array>;
  /** Forgets it, where that is ours to do. */
  drop(kid: string): Promise<void>;
}

/** The store cannot be used now; `message` says why, and what helps. */
export class MasterStoreFailure extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'MasterStoreFailure';
  }
}

/** Reads the passphrase that lies in a file. Fails with a MasterStoreFailure. */
export type ReadPassphrase = () => Promise<string>;

/** What this host has, each undefined where it is not set up. Tried in this order when the first master is made. */
export interface MasterStores {
  file?: MasterStore | undefined;
  keychain?: MasterStore | undefined;
  plain?: MasterStore | undefined;
}
