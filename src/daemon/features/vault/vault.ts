import type { VaultStatus } from '../../../shared/contract/vault.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time.ts';
import type { World } from '../../world.ts';
import { type Closed, notMade, notTried, shut } from './closed.ts';
import { findMaster, openedBy } from './find-master.ts';
import { makeMaster } from './make-master.ts';
import { MasterStoreFailure, type MasterStores, type ReadPassphrase } from './master-store.ts';
import { rotateMaster } from './rotate-master.ts';
import { isProvedBy, type Master, openSecret, sealSecret } from './sealing-scheme.ts';
import type { MasterRecord, MasterStoreName, SealedSecret, VaultStore } from './vault-store.ts';

export interface VaultNeeds {
  store: VaultStore;
  masterStores: MasterStores;
  /** The store to make the first master in; the first that works unless told. */
  preferredStore?: MasterStoreName | undefined;
  /** Of a passphrase that lies in a file; undefined where none was named. */
  readPassphrase?: ReadPassphrase | undefined;
  world: Pick<World, 'now' | 'elapsed' | 'randomBytes' | 'sleep'>;
  log: { warn(details: object, message: string): void };
}

/** A look into a store may take seconds: one that failed is not repeated sooner, unless somebody asks for it. */
export const retryMs = 30_000;

/** Each guess costs this machine a third of a second. */
const guessesAtOnce = 3;
const guessEveryMs = 5_000;

/**
 * Seals secrets under a master key that is kept outside of the database. The master is looked for at the first need, is
 * made at the first secret, and never anew while there is one: whatever a store answers then, the vault stays sealed.
 */
export class Vault {
  readonly #needs: VaultNeeds;
  #master: Master | undefined;
  #trouble: Closed | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #wrongGuesses = 0;
  #guessAgainAt = 0;
  #working: Promise<unknown> = Promise.resolve();

  constructor(needs: VaultNeeds) {
    this.#needs = needs;
  }

  /** Touches no store: what is known from the last look. */
  async status(): Promise<VaultStatus> {
    const record = await this.#needs.store.current();
    const about = {
      store: record?.store ?? null,
      key_id: record?.kid ?? null,
      made_at: record ? isoTime(record.createdAt) : null,
      secrets: await this.#needs.store.secretsCount(),
    };
    if (record !== undefined && this.#master?.kid === record.kid) {
      return { state: 'unlocked', ...about, reason: null };
    }
    const closed = this.#trouble ?? notTried(record);
    return { state: closed.state, ...about, reason: closed === notMade ? null : closed.reason };
  }

  /** Seals, making the first master if there is none. Fails with `unavailable`, saying what helps. */
  async seal(secret: { name: string; version: number; secret: Uint8Array }): Promise<SealedSecret> {
    const master = await this.#opened({ canMake: true });
    return sealSecret(master, secret, (count) => this.#needs.world.randomBytes(count));
  }

  /** The version of a secret that is kept now; 0 for none. */
  async version(name: string): Promise<number> {
    return (await this.#needs.store.secret(name))?.version ?? 0;
  }

  /** The caller fills it with zeros when done. Fails with `unavailable`, saying what helps. */
  async open(name: string): Promise<Buffer> {
    const master = await this.#opened({ canMake: false });
    const sealed = await this.#needs.store.secret(name);
    const opened = sealed && openSecret(master, sealed);
    if (opened) return opened;
    // It may have been rotated, or deleted, between the two reads.
    const again = await this.#needs.store.secret(name);
    const second = again && this.#master && openSecret(this.#master, again);
    if (second) return second;
    throw new ApiError('unavailable', {
      message: sealed ? 'The stored secret does not open; store it again.' : 'The secret was deleted.',
    });
  }

  /** Looks again at once, or takes what opens it; the answer is the state afterwards. */
  async unlock(by: { passphrase?: string; masterKey?: Uint8Array } = {}): Promise<VaultStatus> {
    await this.#alone(async () => {
      const record = await this.#needs.store.current();
      const { masterKey, passphrase } = by;
      const isTyped = passphrase !== undefined || this.#needs.readPassphrase === undefined;
      if (masterKey) await this.#takeExported(record, masterKey);
      else if (record === undefined && passphrase !== undefined) await this.#make('passphrase', passphrase);
      else if (record?.store === 'passphrase' && isTyped) await this.#takePassphrase(record, passphrase);
      else await this.#look({ isAwaited: true });
    });
    return await this.status();
  }

  /** Puts every secret under a new master. Fails with `unavailable` when the vault does not open. */
  async rotate(options: { to?: MasterStoreName; passphrase?: string } = {}): Promise<VaultStatus> {
    await this.#alone(async () => {
      const from = await this.#openedAlone({ canMake: false });
      const record = await this.#needs.store.current();
      const to = options.to ?? record?.store ?? 'keychain';
      try {
        this.#take(await rotateMaster(this.#needs, { from, to, passphrase: options.passphrase }));
      } catch (error) {
        // It may have failed after the secrets went under the new one, which is then looked for at the next need.
        if ((await this.#needs.store.current())?.kid !== from.kid) this.#forget();
        throw error;
      }
    });
    return await this.status();
  }

  /** The master itself, for paper. Fails with `unavailable` when the vault does not open. */
  async export(): Promise<{ key_id: string; master_key: string }> {
    const { kid, key } = await this.#opened({ canMake: false });
    return { key_id: kid, master_key: Buffer.from(key).toString('base64url') };
  }

  /** Opens a vault that has something in it, and tries again while its store does not answer. */
  async keepOpen(signal: AbortSignal): Promise<void> {
    let told: string | undefined;
    while (!signal.aborted) {
      const record = await this.#needs.store.current();
      if (record === undefined || this.#master?.kid === record.kid) return;
      // Without a file, a passphrase comes from a person.
      if (record.store === 'passphrase' && this.#needs.readPassphrase === undefined) return;
      await this.#opened({ canMake: false }).catch((error: unknown) => {
        const reason = (error as Error).message;
        if (reason !== told) this.#needs.log.warn({ reason }, 'the vault is sealed');
        told = reason;
      });
      if (this.#master !== undefined) return;
      await this.#needs.world.sleep(retryMs, signal).catch(() => {});
    }
  }

  #opened(options: { canMake: boolean }): Promise<Master> {
    if (this.#master) return Promise.resolve(this.#master);
    // Whoever unlocks it may be waiting for a person: calls are told at once what is known.
    if (this.#trouble && !options.canMake && !this.#isDue()) return Promise.reject(shut(this.#trouble));
    return this.#alone(() => this.#openedAlone(options));
  }

  async #openedAlone({ canMake }: { canMake: boolean }): Promise<Master> {
    if (this.#master) return this.#master;
    const record = await this.#needs.store.current();
    if (record === undefined && canMake) await this.#make(this.#needs.preferredStore);
    else if (this.#isDue() || this.#trouble === undefined) await this.#look();
    if (this.#master) return this.#master;
    throw shut(this.#trouble ?? notTried(record));
  }

  #isDue(): boolean {
    return this.#needs.world.elapsed() - this.#triedAt >= retryMs;
  }

  /** Looks for the master where it was put. */
  async #look(patience: { isAwaited: boolean } = { isAwaited: false }): Promise<void> {
    const record = await this.#needs.store.current();
    this.#triedAt = this.#needs.world.elapsed();
    const found = record ? await findMaster(this.#needs, record, patience) : notTried(undefined);
    if (record && 'key' in found) this.#take({ kid: record.kid, key: found.key });
    else if (!('key' in found)) this.#trouble = found;
  }

  #take(master: Master): void {
    this.#master = master;
    this.#trouble = undefined;
  }

  #forget(): void {
    this.#master = undefined;
    this.#trouble = undefined;
    this.#triedAt = Number.NEGATIVE_INFINITY;
  }

  async #make(store: MasterStoreName | undefined, passphrase?: string): Promise<void> {
    try {
      this.#take(await makeMaster(this.#needs, { store, passphrase }));
    } catch (error) {
      if (!(error instanceof MasterStoreFailure)) throw error;
      this.#trouble = { state: 'no_vault', reason: error.message };
    }
  }

  async #takePassphrase(record: MasterRecord, passphrase: string | undefined): Promise<void> {
    if (passphrase === undefined) {
      throw new ApiError('invalid_request', {
        param: 'passphrase',
        message: 'This vault needs its passphrase.',
      });
    }
    const waitMs = this.#guessAgainAt - this.#needs.world.elapsed();
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      throw new ApiError('rate_limited', { message: 'Too many wrong passphrases.', retryAfterSeconds });
    }
    const key = await openedBy(record, passphrase);
    if (key === undefined) {
      this.#wrongGuesses += 1;
      if (this.#wrongGuesses >= guessesAtOnce)
        this.#guessAgainAt = this.#needs.world.elapsed() + guessEveryMs;
      throw new ApiError('invalid_request', { param: 'passphrase', message: 'That is not the passphrase.' });
    }
    this.#wrongGuesses = 0;
    this.#take({ kid: record.kid, key });
  }

  /** A key from an export opens the vault, and goes back to where it was lost. */
  async #takeExported(record: MasterRecord | undefined, key: Uint8Array): Promise<void> {
    if (record === undefined || !isProvedBy(record, key)) {
      throw new ApiError('invalid_request', {
        param: 'master_key',
        message: 'That is not the master key of this vault.',
      });
    }
    this.#take({ kid: record.kid, key });
    if (record.store !== 'keychain' && record.store !== 'plain') return;
    const place = this.#needs.masterStores[record.store];
    await place
      ?.keep(record.kid, key, () => false)
      .catch((error: unknown) => {
        this.#needs.log.warn(
          { err: error },
          'the master key could not be put back; the next start will ask again',
        );
      });
  }

  /** One at a time: two that make or change a master would bury each other's. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#working.then(work);
    this.#working = turn.catch(() => {});
    return turn;
  }
}
