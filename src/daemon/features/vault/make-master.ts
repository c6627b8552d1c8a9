import { type MasterStore, MasterStoreFailure } from './master-store.ts';
import { wrapByPassphrase } from './passphrase.ts';
import { isProvedBy, keyBytes, type Master, proofOf } from './sealing-scheme.ts';
import type { VaultNeeds } from './vault.ts';
import type { MasterRecord, MasterStoreName } from './vault-store.ts';

type Needs = Pick<VaultNeeds, 'store' | 'masterStores' | 'world' | 'log'>;

interface Wish {
  /** The first that works unless told. */
  store: MasterStoreName | undefined;
  passphrase?: string | undefined;
}

const order = ['file', 'keychain', 'plain'] as const;

/**
 * Makes the first master: it is kept and read back before the database hears of it. Fails with a MasterStoreFailure that
 * says for each store why not; nothing is left then but, at worst, a key in a store that nobody refers to.
 */
export async function makeMaster(needs: Needs, { store, passphrase }: Wish): Promise<Master> {
  const { kept, record } = await keepNew(needs, { store, passphrase }, []);
  if (await needs.store.addMaster(record)) return kept;
  throw new MasterStoreFailure('Another master key was made at the same time; try again.');
}

/** A new key in a store, and what to remember of it. `used` are keys that it must not be. */
export async function keepNew(
  needs: Needs,
  { store, passphrase }: Wish,
  used: readonly MasterRecord[],
): Promise<{ kept: Master; record: MasterRecord }> {
  const { world } = needs;
  const randomBytes = (count: number) => world.randomBytes(count);
  const kid = Buffer.from(randomBytes(8)).toString('hex');
  const remember = (kept: Master, name: MasterStoreName, wrapped: string | null): MasterRecord => ({
    kid,
    store: name,
    proof: proofOf(kept, randomBytes),
    wrapped,
    createdAt: world.now(),
  });
  if (store === 'passphrase') {
    if (passphrase === undefined) throw new MasterStoreFailure(needsPassphrase);
    const kept = { kid, key: randomBytes(keyBytes) };
    return { kept, record: remember(kept, store, await wrapByPassphrase(kept, passphrase, randomBytes)) };
  }
  const isUsed = (key: Uint8Array) => used.some((record) => isProvedBy(record, key));
  const reasons: string[] = [];
  for (const name of store === undefined ? order : [store]) {
    const place = needs.masterStores[name];
    if (place === undefined) {
      if (store !== undefined) reasons.push(notSetUp[name]);
      continue;
    }
    try {
      const kept = { kid, key: await keepIn(place, kid, randomBytes(keyBytes), isUsed) };
      return { kept, record: remember(kept, name, null) };
    } catch (error) {
      if (!(error instanceof MasterStoreFailure)) throw error;
      needs.log.warn({ store: name, err: error.cause, reason: error.message }, 'a master key cannot be kept');
      reasons.push(error.message);
      // Who named a file means that file and no other place.
      if (name === 'file') break;
    }
  }
  throw new MasterStoreFailure([...reasons, remedies].join(' '));
}

async function keepIn(
  place: MasterStore,
  kid: string,
  fresh: Uint8Array,
  isUsed: (key: Uint8Array) => boolean,
): Promise<Uint8Array> {
  const key = await place.keep(kid, fresh, isUsed);
  if (key.length !== keyBytes) throw new MasterStoreFailure('A master key has 32 bytes.');
  return key;
}

const needsPassphrase = 'That store needs a passphrase: gateway vault unlock --passphrase';

const notSetUp = {
  file: 'No file is named: set GATEWAY_MASTER_KEY_FILE.',
  keychain: 'The configuration switches the keychain off.',
  plain: 'The configuration does not allow a plain file: vault.insecure_plain_file.',
} as const;

const remedies =
  'Other places for the master key: a passphrase (gateway vault unlock --passphrase), or a file of your own (GATEWAY_MASTER_KEY_FILE).';
