import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { MasterStoreFailure, type MasterStores, type ReadPassphrase } from './master-store.ts';
import { wrapByPassphrase } from './passphrase.ts';
import { isProvenBy, keyBytes, type Master, proofOf } from './sealing-scheme.ts';
import type { MasterRecord, MasterStoreName, VaultStore } from './store.ts';

export interface MasterDeps {
  store: VaultStore;
  masterStores: MasterStores;
  /** Reads the passphrase file, if one is configured. */
  readPassphrase?: ReadPassphrase | undefined;
  world: Pick<World, 'now' | 'randomBytes'>;
  log: Pick<Log, 'warn'>;
}

interface NewMasterOptions {
  /** By default, the first one that works. */
  store: MasterStoreName | undefined;
  passphrase?: string | undefined;
}

/** A passphrase is used only if a file provides it. */
const order = ['file', 'keychain', 'passphrase', 'plain'] as const;

/**
 * Creates the first master: stores it and reads it back before the database refers to it. Fails with a MasterStoreFailure
 * with the reason for each store; at worst an unused key is left in a store.
 */
export async function createFirstMaster(
  deps: MasterDeps,
  { store, passphrase }: NewMasterOptions,
): Promise<Master> {
  const { master, record } = await createMaster(deps, { store, passphrase }, []);
  if (await deps.store.addMaster(record)) return master;
  throw new MasterStoreFailure('Another master key was created at the same time; try again.');
}

/** Creates a key in a store, different from the `used` ones, and its record. */
export async function createMaster(
  deps: MasterDeps,
  options: NewMasterOptions,
  used: readonly MasterRecord[],
): Promise<{ master: Master; record: MasterRecord }> {
  const { world } = deps;
  const kid = Buffer.from(world.randomBytes(8)).toString('hex');
  const isUsed = (key: Uint8Array) => used.some((record) => isProvenBy(record, key));
  const reasons: string[] = [];
  for (const name of options.store === undefined ? order : [options.store]) {
    try {
      const created = await createIn(deps, name, { kid, passphrase: options.passphrase, isUsed });
      if (created === undefined) {
        if (options.store !== undefined) reasons.push(notSetUp[name]);
        continue;
      }
      const { master, wrapped } = created;
      const proof = proofOf(master, (count) => world.randomBytes(count));
      return { master, record: { kid, store: name, proof, wrapped, createdAt: world.now() } };
    } catch (error) {
      if (!(error instanceof MasterStoreFailure)) throw error;
      deps.log.warn(
        { store: name, err: error.cause, reason: error.message },
        'a master key cannot be stored',
      );
      reasons.push(error.message);
      // A configured file excludes other stores.
      if (name === 'file') break;
    }
  }
  throw new MasterStoreFailure([...reasons, remedies].join(' '));
}

interface NewKey {
  kid: string;
  passphrase: string | undefined;
  isUsed: (key: Uint8Array) => boolean;
}

/** Undefined if this host has no such store. */
async function createIn(
  deps: MasterDeps,
  name: MasterStoreName,
  { kid, passphrase: typed, isUsed }: NewKey,
): Promise<{ master: Master; wrapped: string | null } | undefined> {
  const randomBytes = (count: number) => deps.world.randomBytes(count);
  if (name === 'passphrase') {
    const passphrase = typed ?? (await deps.readPassphrase?.());
    if (passphrase === undefined) return undefined;
    const master = { kid, key: randomBytes(keyBytes) };
    return { master, wrapped: await wrapByPassphrase(master, passphrase, randomBytes) };
  }
  const key = await deps.masterStores[name]?.add(kid, randomBytes(keyBytes), isUsed);
  if (key === undefined) return undefined;
  if (key.length !== keyBytes) throw new MasterStoreFailure('A master key must have 32 bytes.');
  return { master: { kid, key }, wrapped: null };
}

const notSetUp = {
  file: 'No file is configured: set GATEWAY_MASTER_KEY_FILE.',
  keychain: 'The configuration disables the keychain.',
  passphrase: 'This store requires a passphrase.',
  plain: 'The configuration does not allow a plain file: vault.insecure_plain_file.',
} as const;

const remedies =
  'Alternatives for the master key: a passphrase (gateway vault unlock --passphrase, or GATEWAY_VAULT_PASSPHRASE_FILE), ' +
  'or your own file (GATEWAY_MASTER_KEY_FILE).';
