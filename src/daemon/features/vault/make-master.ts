import { MasterStoreFailure } from './master-store.ts';
import { wrapByPassphrase } from './passphrase.ts';
import { isProvedBy, keyBytes, type Master, proofOf } from './sealing-scheme.ts';
import type { VaultNeeds } from './vault.ts';
import type { MasterRecord, MasterStoreName } from './vault-store.ts';

type Needs = Pick<VaultNeeds, 'store' | 'masterStores' | 'readPassphrase' | 'world' | 'log'>;

interface Wish {
  /** The first that works unless told. */
  store: MasterStoreName | undefined;
  passphrase?: string | undefined;
}

/** A passphrase is one where a file holds it: it would else be a person who is asked. */
const order = ['file', 'keychain', 'passphrase', 'plain'] as const;

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
  wish: Wish,
  used: readonly MasterRecord[],
): Promise<{ kept: Master; record: MasterRecord }> {
  const { world } = needs;
  const kid = Buffer.from(world.randomBytes(8)).toString('hex');
  const isUsed = (key: Uint8Array) => used.some((record) => isProvedBy(record, key));
  const reasons: string[] = [];
  for (const name of wish.store === undefined ? order : [wish.store]) {
    try {
      const made = await keepIn(needs, name, { kid, passphrase: wish.passphrase, isUsed });
      if (made === undefined) {
        if (wish.store !== undefined) reasons.push(notSetUp[name]);
        continue;
      }
      const { kept, wrapped } = made;
      const proof = proofOf(kept, (count) => world.randomBytes(count));
      return { kept, record: { kid, store: name, proof, wrapped, createdAt: world.now() } };
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

interface NewKey {
  kid: string;
  passphrase: string | undefined;
  isUsed: (key: Uint8Array) => boolean;
}

/** Undefined where this host has no such store. */
async function keepIn(
  needs: Needs,
  name: MasterStoreName,
  { kid, passphrase: typed, isUsed }: NewKey,
): Promise<{ kept: Master; wrapped: string | null } | undefined> {
  const randomBytes = (count: number) => needs.world.randomBytes(count);
  if (name === 'passphrase') {
    const passphrase = typed ?? (await needs.readPassphrase?.());
    if (passphrase === undefined) return undefined;
    const kept = { kid, key: randomBytes(keyBytes) };
    return { kept, wrapped: await wrapByPassphrase(kept, passphrase, randomBytes) };
  }
  const key = await needs.masterStores[name]?.keep(kid, randomBytes(keyBytes), isUsed);
  if (key === undefined) return undefined;
  if (key.length !== keyBytes) throw new MasterStoreFailure('A master key has 32 bytes.');
  return { kept: { kid, key }, wrapped: null };
}

const notSetUp = {
  file: 'No file is named: set GATEWAY_MASTER_KEY_FILE.',
  keychain: 'The configuration switches the keychain off.',
  passphrase: 'That store needs a passphrase.',
  plain: 'The configuration does not allow a plain file: vault.insecure_plain_file.',
} as const;

const remedies =
  'Other places for the master key: a passphrase (gateway vault unlock --passphrase, or GATEWAY_VAULT_PASSPHRASE_FILE), ' +
  'or a file of your own (GATEWAY_MASTER_KEY_FILE).';
