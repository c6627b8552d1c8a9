import type { Stats } from 'node:fs';
import { chmod, mkdir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dataFiles } from '../../shared/folders.ts';
import { FileUnreadable, readNamedFile } from '../runtime/read-named-file.ts';
import { DataFileUnusable } from '../storage/sqlite/engine/errors.ts';
import { requireFile } from '../storage/sqlite/guard/file-kind.ts';

/** The path of a file of the data folder. */
export type DataFile = (name: keyof typeof dataFiles) => string;

export function dataFileIn(folder: string): DataFile {
  return (name) => `${folder}/${dataFiles[name]}`;
}

/**
 * Creates the folder with access for its owner only. Fails with FolderUnsafe if others can write to it, and with
 * DataFileUnusable if one of the files is a folder, for example.
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of Object.values(dataFiles)) {
    for (const path of [`${folder}/${name}`, unfinished(`${folder}/${name}`)]) requireFile(path);
  }
  if (process.platform === 'win32') return;
  const { mode, uid } = await stat(folder);
  if (uid !== process.getuid?.()) throw new FolderUnsafe(`${folder} belongs to another user.`);
  if ((mode & 0o022) !== 0)
    throw new FolderUnsafe(`${folder} is writable by other users; run: chmod 700 ${folder}`, folder);
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
}

/** The data folder, or a secret file in it, is accessible to other users. */
export class FolderUnsafe extends Error {
  /** What has the wrong permissions; undefined if they are not the problem. */
  readonly path: string | undefined;

  constructor(message: string, path?: string) {
    super(message);
    this.path = path;
    this.name = 'FolderUnsafe';
  }
}

/** The model lists of all providers have some megabytes. */
const secretBytesMax = 256 * 1024 ** 2;

/**
 * Reads a file that only its owner can read; undefined when it does not exist. `waitMs` is how long to wait for the content of a
 * pipe.
 */
export async function readSecretFile(
  path: string,
  { waitMs }: { waitMs?: number } = {},
): Promise<string | undefined> {
  const requireOwn = ({ mode }: Stats) => {
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new FolderUnsafe(`${path} is readable by other users; run: chmod 600 ${path}`, path);
  };
  try {
    return (await readNamedFile(path, { bytesMax: secretBytesMax, waitMs, check: requireOwn }))
      .toString()
      .trim();
  } catch (error) {
    if (!(error instanceof FileUnreadable)) throw error;
    if (error.code === 'ENOENT') return undefined;
    // The start explains errors of the system.
    throw error.cause ?? error;
  }
}

/** Replaces a file, readable by its owner only, in one step: a link is not followed, and a crash leaves no partial file. */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const fresh = unfinished(path);
  await unlink(fresh).catch(ignoreAbsent);
  await writeFile(fresh, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await rename(fresh, path);
}

/** Where a file is written before it replaces the old one. */
function unfinished(path: string): string {
  return `${path}.new`;
}

export async function removeFile(path: string): Promise<void> {
  await unlink(path).catch(ignoreAbsent);
}

/** Reads the key that encrypts reasoning and proofs of payments, 32 bytes; creates it if it does not exist. */
export async function dataKey(
  path: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<{ key: Uint8Array; isNew: boolean }> {
  const kept = await readSecretFile(path);
  if (kept !== undefined) {
    const key = Buffer.from(kept, 'base64url');
    if (key.length !== 32) {
      const remedy = 'Put the old file back; without one, what is encrypted with it is lost.';
      throw new DataFileUnusable(path, 'does not contain a 32-byte key', remedy);
    }
    return { key, isNew: false };
  }
  const key = randomBytes(32);
  await writeSecretFile(path, Buffer.from(key).toString('base64url'));
  return { key, isNew: true };
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
