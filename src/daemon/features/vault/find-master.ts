import type { Closed } from './closed.ts';
import { anotherKey, notFound, notSetUp, notTried, wrongPassphrase } from './closed.ts';
import { MasterStoreFailure, type MasterStores, type ReadPassphrase } from './master-store.ts';
import { unwrapByPassphrase } from './passphrase.ts';
import { isProvedBy } from './sealing-scheme.ts';
import type { MasterRecord } from './vault-store.ts';

interface Needs {
  masterStores: MasterStores;
  readPassphrase?: ReadPassphrase | undefined;
}

/** Looks for a master key where it was put: the key that the record proves, or why there is none. Never makes one. */
export async function findMaster(
  needs: Needs,
  record: MasterRecord,
  patience: { isAwaited: boolean },
): Promise<{ key: Uint8Array } | Closed> {
  try {
    if (record.store === 'passphrase') return await unwrap(needs.readPassphrase, record);
    const place = needs.masterStores[record.store];
    if (place === undefined) return { state: 'sealed', reason: notSetUp[record.store] };
    const found = await place.find(record.kid, patience);
    const key = found.find((candidate) => isProvedBy(record, candidate));
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
  if (readPassphrase === undefined) return notTried(record);
  const key = await openedBy(record, await readPassphrase());
  return key ? { key } : { state: 'sealed', reason: wrongPassphrase };
}

/** The master key, if this is its passphrase. */
export async function openedBy(record: MasterRecord, passphrase: string): Promise<Uint8Array | undefined> {
  const key = await unwrapByPassphrase({ kid: record.kid, wrapped: record.wrapped ?? '' }, passphrase);
  return key && isProvedBy(record, key) ? key : undefined;
}
