import { createHmac } from 'node:crypto';
import type { DaemonsStore } from '../features/daemons/index.ts';
import { DataFileUnusable } from '../storage/sqlite/engine/errors.ts';
import { removeFile } from './data-folder.ts';

interface DataKeyCheck {
  store: Pick<DaemonsStore, 'markDataKey'>;
  key: Uint8Array;
  /** Of the key. */
  path: string;
  /** Whether the key was created by this start. */
  isNew: boolean;
  /** Whether data folders of other daemons can have the key, too. */
  isShared: boolean;
}

/**
 * The first start with a database stores what identifies the data key, of which nothing about the key can be learned. Rejects with
 * `DataFileUnusable` if a shared database was written with another key, which this one could not read; a new one is deleted then.
 */
export async function requireDataKey({ store, key, path, isNew, isShared }: DataKeyCheck): Promise<void> {
  const mark = createHmac('sha256', key).update('gateway data key').digest().readUIntBE(0, 6);
  const stored = await store.markDataKey(mark, { isReplaced: !isShared });
  if (stored === mark) return;
  if (isNew) await removeFile(path);
  throw new DataFileUnusable(
    path,
    isNew
      ? 'is missing, and the database was written with it'
      : 'is not the key with which the database was written',
    'Copy data-key from the data folder of the first daemon of this database, or from its backup.',
  );
}
