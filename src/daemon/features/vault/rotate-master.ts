import { ApiError } from '../../../shared/errors.ts';
import { createMaster, type MasterDeps } from './create-master.ts';
import { MasterStoreFailure } from './master-store.ts';
import { type Master, openSecret, rewrapSecret } from './sealing-scheme.ts';
import type { MasterStoreName, SealedSecret } from './store.ts';

interface Rotation {
  from: Master;
  to: MasterStoreName;
  passphrase?: string | undefined;
}

/** A rotation restarts when secrets are stored while it reads them. */
const attemptsMax = 5;

/**
 * Reseals every secret with a new master. Each step leaves a vault that opens: the new key is stored and read back, one
 * transaction rewraps all secrets, every secret is opened as a check, and only then the old key is deleted.
 */
export async function rotateMaster(deps: MasterDeps, { from, to, passphrase }: Rotation): Promise<Master> {
  const { store } = deps;
  const current = await store.current();
  const used = [...(current ? [current] : []), ...(await store.retired())];
  const { master, record } = await createMaster(deps, { store: to, passphrase }, used).catch(asConflict);
  for (let attempt = 1; ; attempt += 1) {
    const secrets = await store.secrets();
    const rewrapped = secrets.map((secret) => rewrapOrFail(deps, { from, to: master }, secret));
    if (await store.rotate({ from: from.kid, to: record, rewrapped })) break;
    if (attempt === attemptsMax) {
      throw new ApiError('conflict', { message: 'Secrets kept changing during the rotation; try again.' });
    }
  }
  const unopened = (await store.secrets()).filter((secret) => openSecret(master, secret) === undefined);
  if (unopened.length > 0) {
    deps.log.warn(
      { names: unopened.map(({ name }) => name) },
      'secrets cannot be decrypted after a rotation',
    );
    throw new ApiError('server_error', {
      message: 'Not every secret can be decrypted; the old master key was kept.',
    });
  }
  await deleteRetired(deps);
  return master;
}

function rewrapOrFail(
  deps: MasterDeps,
  masters: { from: Master; to: Master },
  secret: SealedSecret,
): SealedSecret {
  const done = rewrapSecret(masters, secret, (count) => deps.world.randomBytes(count));
  if (done) return done;
  const [kind = 'secret', ...rest] = secret.name.split('|');
  throw new ApiError('conflict', {
    message: `The ${kind} of ${rest.join(', ')} is damaged: delete it or store it again, then rotate.`,
  });
}

/** Deletes masters that seal no secret, including those of an interrupted rotation. */
async function deleteRetired({ store, masterStores, log }: MasterDeps): Promise<void> {
  const needed = new Set((await store.secrets()).map(({ kid }) => kid));
  for (const { kid, store: name } of await store.retired()) {
    if (needed.has(kid)) continue;
    try {
      if (name !== 'passphrase') await masterStores[name]?.delete(kid);
      await store.dropMaster(kid);
    } catch (error) {
      log.warn(
        { err: error, key_id: kid },
        'an old master key could not be deleted; the next rotation tries again',
      );
    }
  }
}

function asConflict(error: unknown): never {
  if (error instanceof MasterStoreFailure)
    throw new ApiError('conflict', { message: error.message, cause: error });
  throw error;
}
