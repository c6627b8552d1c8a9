import { ApiError } from '../../../shared/errors.ts';
import { keepNew } from './make-master.ts';
import { MasterStoreFailure } from './master-store.ts';
import { type Master, openSecret, rewrapSecret } from './sealing-scheme.ts';
import type { VaultNeeds } from './vault.ts';
import type { MasterStoreName, SealedSecret } from './vault-store.ts';

type Needs = Pick<VaultNeeds, 'store' | 'masterStores' | 'readPassphrase' | 'world' | 'log'>;

interface Rotation {
  from: Master;
  to: MasterStoreName;
  passphrase?: string | undefined;
}

/** Secrets may be stored while a rotation reads them; it then starts over. */
const attemptsMax = 5;

/**
 * Puts every secret under a new master. Each step leaves a state that opens: the new key is kept and read back, one
 * transaction rewraps all, every secret is opened as it is kept, and only then is the old key dropped.
 */
export async function rotateMaster(needs: Needs, { from, to, passphrase }: Rotation): Promise<Master> {
  const { store } = needs;
  const current = await store.current();
  const used = [...(current ? [current] : []), ...(await store.retired())];
  const { kept, record } = await keepNew(needs, { store: to, passphrase }, used).catch(asConflict);
  for (let attempt = 1; ; attempt += 1) {
    const secrets = await store.secrets();
    const rewrapped = secrets.map((secret) => rewrapOrFail(needs, { from, to: kept }, secret));
    if (await store.rotate({ from: from.kid, to: record, rewrapped })) break;
    if (attempt === attemptsMax) {
      throw new ApiError('conflict', { message: 'Secrets are being stored all the time; try again.' });
    }
  }
  const unopened = (await store.secrets()).filter((secret) => openSecret(kept, secret) === undefined);
  if (unopened.length > 0) {
    needs.log.warn({ names: unopened.map(({ name }) => name) }, 'secrets do not open after a rotation');
    throw new ApiError('server_error', { message: 'Not every secret opens; the old master key was kept.' });
  }
  await dropRetired(needs);
  return kept;
}

function rewrapOrFail(
  needs: Needs,
  masters: { from: Master; to: Master },
  secret: SealedSecret,
): SealedSecret {
  const done = rewrapSecret(masters, secret, (count) => needs.world.randomBytes(count));
  if (done) return done;
  const [kind = 'secret', ...rest] = secret.name.split('|');
  throw new ApiError('conflict', {
    message: `The ${kind} of ${rest.join(', ')} is damaged: delete it or store it again, then rotate.`,
  });
}

/** Forgets masters that nothing is sealed under any more, those of a rotation that was cut short too. */
async function dropRetired({ store, masterStores, log }: Needs): Promise<void> {
  const needed = new Set((await store.secrets()).map(({ kid }) => kid));
  for (const { kid, store: name } of await store.retired()) {
    if (needed.has(kid)) continue;
    try {
      if (name !== 'passphrase') await masterStores[name]?.drop(kid);
      await store.dropMaster(kid);
    } catch (error) {
      log.warn(
        { err: error, key_id: kid },
        'an old master key could not be dropped; the next rotation tries again',
      );
    }
  }
}

function asConflict(error: unknown): never {
  if (error instanceof MasterStoreFailure)
    throw new ApiError('conflict', { message: error.message, cause: error });
  throw error;
}
