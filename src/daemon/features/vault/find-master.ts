import type { Closed } from './closed-vault.ts';
import { anotherKey, notFound, notOpenedYet, notSetUp, wrongPassphrase } from './closed-vault.ts';
import { MasterStoreFailure, type MasterStores, type ReadPassphrase } from './master-store.ts';
import { unwrapByPassphrase } from './passphrase.ts';
import { isProvenBy } from './sealing-scheme.ts';
import type { MasterRecord } from './store.ts';

interface FindDeps {
  masterStores: MasterStores;
  readPassphrase?: ReadPassphrase | undefined;
}

/** Reads a master key from its store: returns the key that matches the record, or why there is none. */
export async function findMaster(
  deps: FindDeps,
  record: MasterRecord,
  options: { isInteractive: boolean },
): Promise<{ key: Uint8Array } | Closed> {
  try {
    if (record.store === 'passphrase') return await unwrap(deps.readPassphrase, record);
    const store = deps.masterStores[record.store];
    if (store === undefined) return { state: 'sealed', reason: notSetUp[record.store] };
    const found = await store.find(record.kid, options);
    const key = found.find((candidate) => isProvenBy(record, candidate));
    if (key) return { key };
    if (found.length > 0) return { state: 'wrong_key', reason: anotherKey };
    return { state: 'sealed', reason: notFound[record.store] };
  } catch (error) {
    if (!(error instanceof MasterStoreFailure)) throw error;
    return { state: 'sealed', reason: error.message };
  }
}

async function unwrap(
  readPassphrase: ReadPassphrase | undefined,
  record: MasterRecord,
): Promise<{ key: Uint8Array } | Closed> {
  if (readPassphrase === undefined) return notOpenedYet(record);
  const key = await unlockWithPassphrase(record, await readPassphrase());
  return key ? { key } : { state: 'sealed', reason: wrongPassphrase };
}

/** The master key, if the passphrase is right. */
export async function unlockWithPassphrase(
  record: MasterRecord,
  passphrase: string,
): Promise<Uint8Array | undefined> {
  const key = await unwrapByPassphrase({ kid: record.kid, wrapped: record.wrapped ?? '' }, passphrase);
  return key && isProvenBy(record, key) ? key : undefined;
}
