import { Mutex } from '../../../shared/async/mutex.ts';
import type { VaultStatus } from '../../../shared/contract/vault.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Changes } from '../../base/changes.ts';
import type { World } from '../../base/world.ts';
import { type Closed, notCreatedYet, notOpenedYet, VaultClosed } from './closed-vault.ts';
import { createFirstMaster, type MasterDeps } from './create-master.ts';
import { findMaster, unlockWithPassphrase } from './find-master.ts';
import { MasterStoreFailure } from './master-store.ts';
import { rotateMaster } from './rotate-master.ts';
import { isProvenBy, type Master, openSecret, sealSecret } from './sealing-scheme.ts';
import type { MasterRecord, MasterStoreName, SealedSecret } from './store.ts';

export interface VaultDeps extends MasterDeps {
  /** The store for the first master key; by default, the first one that works. */
  preferredStore?: MasterStoreName | undefined;
  world: Pick<World, 'now' | 'elapsed' | 'randomBytes' | 'sleep'>;
  changes: Changes;
}

/** Reading a store may take seconds, so a failed read is not repeated sooner unless requested. */
export const retryMs = 30_000;

/** Concurrent changes of the same secret, or a rotation, make one of them retry. */
const attemptsMax = 5;

/** Each guess costs a third of a second of CPU time. */
const guessesMax = 3;
const guessEveryMs = 5_000;

/**
 * Seals secrets with a master key that is stored outside of the database. The master is read on first use and created with
 * the first secret. An existing master is never replaced: if its store fails, the vault stays sealed.
 */
export class Vault {
  readonly #deps: VaultDeps;
  #master: Master | undefined;
  #failure: Closed | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #wrongGuesses = 0;
  #guessAgainAt = 0;
  /** Concurrent changes of the master would overwrite each other. */
  readonly #changes = new Mutex();

  constructor(deps: VaultDeps) {
    this.#deps = deps;
    deps.changes.subscribe('vault', async () => {
      const record = await deps.store.current();
      // The next use reads the new one.
      if (record?.kid !== this.#master?.kid) this.#clear();
    });
  }

  /** Whether secrets can be opened without reading a store. */
  get isOpen(): boolean {
    return this.#master !== undefined;
  }

  /** The last known state, without reading a store. */
  async status(): Promise<VaultStatus> {
    const record = await this.#deps.store.current();
    const about = {
      store: record?.store ?? null,
      key_id: record?.kid ?? null,
      made_at: record ? isoTime(record.createdAt) : null,
      secrets: await this.#deps.store.secretsCount(),
    };
    if (record !== undefined && this.#master?.kid === record.kid) {
      return { state: 'unlocked', ...about, reason: null };
    }
    const closed = this.#failure ?? notOpenedYet(record);
    return { state: closed.state, ...about, reason: closed === notCreatedYet ? null : closed.reason };
  }

  /** Seals a secret, creating the first master if needed. Fails with `unavailable` and the remedy. */
  async seal(secret: { name: string; version: number; secret: Uint8Array }): Promise<SealedSecret> {
    const master = await this.#getMaster({ canMake: true });
    return sealSecret(master, secret, (count) => this.#deps.world.randomBytes(count));
  }

  /** Seals and stores a secret in place of an earlier one, and zeroes it. Fails with `unavailable` and the remedy. */
  async keep(name: string, secret: Uint8Array): Promise<void> {
    try {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const version = (await this.version(name)) + 1;
        const sealed = await this.seal({ name, version, secret });
        if (await this.#deps.store.putSecret(sealed)) return;
      }
    } finally {
      secret.fill(0);
    }
    throw new ApiError('unavailable', {
      message: 'The secret is being changed by another request; try again.',
    });
  }

  /** Deletes a secret, if there is one. */
  async forget(name: string): Promise<void> {
    await this.#deps.store.deleteSecret(name);
  }

  /** The names of the secrets that start with a text. */
  async names(start: string): Promise<string[]> {
    const secrets = await this.#deps.store.secrets();
    return secrets.map(({ name }) => name).filter((name) => name.startsWith(start));
  }

  /** The current version of a secret; 0 for none. */
  async version(name: string): Promise<number> {
    return (await this.#deps.store.secret(name))?.version ?? 0;
  }

  /** Opens a secret, which the caller zeroes when done. Fails with `unavailable` and the remedy. */
  async open(name: string): Promise<Buffer> {
    const master = await this.#getMaster({ canMake: false });
    const sealed = await this.#deps.store.secret(name);
    const opened = sealed && openSecret(master, sealed);
    if (opened) return opened;
    // It may have been rotated or deleted between the two reads.
    const again = await this.#deps.store.secret(name);
    const second = again && this.#master && openSecret(this.#master, again);
    if (second) return second;
    throw new ApiError('unavailable', {
      message: sealed ? 'The stored secret cannot be decrypted; store it again.' : 'The secret was deleted.',
    });
  }

  /** Reads the master's store again, or uses the given passphrase or key. Returns the new state. */
  async unlock(by: { passphrase?: string; masterKey?: Uint8Array } = {}): Promise<VaultStatus> {
    await this.#changes.run(async () => {
      const record = await this.#deps.store.current();
      const { masterKey, passphrase } = by;
      const isTyped = passphrase !== undefined || this.#deps.readPassphrase === undefined;
      if (masterKey) await this.#openWithExported(record, masterKey);
      else if (record === undefined && passphrase !== undefined) await this.#create('passphrase', passphrase);
      else if (record?.store === 'passphrase' && isTyped) await this.#openWithPassphrase(record, passphrase);
      else await this.#read({ isInteractive: true });
    });
    return await this.status();
  }

  /** Reseals every secret with a new master. Fails with `unavailable` if the vault is sealed. */
  async rotate(options: { to?: MasterStoreName; passphrase?: string } = {}): Promise<VaultStatus> {
    await this.#changes.run(async () => {
      const from = await this.#openExclusive({ canMake: false });
      const record = await this.#deps.store.current();
      const to = options.to ?? record?.store ?? 'keychain';
      try {
        this.#setMaster(await rotateMaster(this.#deps, { from, to, passphrase: options.passphrase }));
      } catch (error) {
        // If the secrets were already resealed, the new master is read on next use.
        if ((await this.#deps.store.current())?.kid !== from.kid) this.#clear();
        throw error;
      }
    });
    return await this.status();
  }

  /** The master key itself, for an offline copy. Fails with `unavailable` if the vault is sealed. */
  async export(): Promise<{ key_id: string; master_key: string }> {
    const { kid, key } = await this.#getMaster({ canMake: false });
    return { key_id: kid, master_key: Buffer.from(key).toString('base64url') };
  }

  /** Opens a vault that has secrets, retrying while its store fails. */
  async keepOpen(signal: AbortSignal): Promise<void> {
    let logged: string | undefined;
    while (!signal.aborted) {
      const record = await this.#deps.store.current();
      if (record === undefined || this.#master?.kid === record.kid) return;
      // Without a file, the passphrase has to be typed.
      if (record.store === 'passphrase' && this.#deps.readPassphrase === undefined) return;
      await this.#getMaster({ canMake: false }).catch((error: unknown) => {
        const reason = (error as Error).message;
        if (reason !== logged) this.#deps.log.warn({ reason }, 'the vault is sealed');
        logged = reason;
      });
      if (this.#master !== undefined) return;
      await this.#deps.world.sleep(retryMs, signal).catch(() => {});
    }
  }

  #getMaster(options: { canMake: boolean }): Promise<Master> {
    if (this.#master) return Promise.resolve(this.#master);
    // An unlock may be waiting for a person, so calls fail immediately with the known reason.
    if (this.#failure && !options.canMake && !this.#isDue())
      return Promise.reject(new VaultClosed(this.#failure));
    return this.#changes.run(() => this.#openExclusive(options));
  }

  async #openExclusive({ canMake }: { canMake: boolean }): Promise<Master> {
    if (this.#master) return this.#master;
    const record = await this.#deps.store.current();
    if (record === undefined && canMake) await this.#create(this.#deps.preferredStore);
    else if (this.#isDue() || this.#failure === undefined) await this.#read();
    if (this.#master) return this.#master;
    throw new VaultClosed(this.#failure ?? notOpenedYet(record));
  }

  #isDue(): boolean {
    return this.#deps.world.elapsed() - this.#triedAt >= retryMs;
  }

  /** Reads the master from its store. */
  async #read(options: { isInteractive: boolean } = { isInteractive: false }): Promise<void> {
    const record = await this.#deps.store.current();
    this.#triedAt = this.#deps.world.elapsed();
    const found = record ? await findMaster(this.#deps, record, options) : notOpenedYet(undefined);
    if (record && 'key' in found) this.#setMaster({ kid: record.kid, key: found.key });
    else if (!('key' in found)) this.#failure = found;
  }

  #setMaster(master: Master): void {
    this.#master = master;
    this.#failure = undefined;
  }

  #clear(): void {
    this.#master = undefined;
    this.#failure = undefined;
    this.#triedAt = Number.NEGATIVE_INFINITY;
  }

  async #create(store: MasterStoreName | undefined, passphrase?: string): Promise<void> {
    try {
      this.#setMaster(await createFirstMaster(this.#deps, { store, passphrase }));
    } catch (error) {
      if (!(error instanceof MasterStoreFailure)) throw error;
      this.#failure = { state: 'no_vault', reason: error.message };
    }
  }

  async #openWithPassphrase(record: MasterRecord, passphrase: string | undefined): Promise<void> {
    if (passphrase === undefined) {
      throw new ApiError('invalid_request', {
        param: 'passphrase',
        message: 'This vault requires its passphrase.',
      });
    }
    const waitMs = this.#guessAgainAt - this.#deps.world.elapsed();
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      throw new ApiError('rate_limited', { message: 'Too many wrong passphrases.', retryAfterSeconds });
    }
    const key = await unlockWithPassphrase(record, passphrase);
    if (key === undefined) {
      this.#wrongGuesses += 1;
      if (this.#wrongGuesses >= guessesMax) this.#guessAgainAt = this.#deps.world.elapsed() + guessEveryMs;
      throw new ApiError('invalid_request', { param: 'passphrase', message: 'The passphrase is wrong.' });
    }
    this.#wrongGuesses = 0;
    this.#setMaster({ kid: record.kid, key });
  }

  /** An exported key opens the vault, and is stored again where it was lost. */
  async #openWithExported(record: MasterRecord | undefined, key: Uint8Array): Promise<void> {
    if (record === undefined || !isProvenBy(record, key)) {
      throw new ApiError('invalid_request', {
        param: 'master_key',
        message: 'This is not the master key of this vault.',
      });
    }
    this.#setMaster({ kid: record.kid, key });
    if (record.store !== 'keychain' && record.store !== 'plain') return;
    const store = this.#deps.masterStores[record.store];
    await store
      ?.add(record.kid, key, () => false)
      .catch((error: unknown) => {
        this.#deps.log.warn(
          { err: error },
          'the master key could not be stored again; the next start will need it again',
        );
      });
  }
}
