import { open, readFile, unlink } from 'node:fs/promises';
import { KeychainFailure, openKeychain } from '../../keychain/index.ts';
import type { Config } from '../config/config.ts';
import {
  type MasterStore,
  MasterStoreFailure,
  type MasterStoreName,
  type MasterStores,
  parseMasterKey,
  type ReadPassphrase,
} from '../features/vault/index.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import { DataFileUnusable } from '../storage/sqlite/engine/errors.ts';
import { requireFile } from '../storage/sqlite/guard/file-kind.ts';
import { FolderUnsafe, readSecretFile } from './data-folder.ts';

type Env = Record<string, string | undefined>;

/** Where the vault's master key is stored. */
export interface VaultSettings {
  masterStores: MasterStores;
  /** Where the first master key is created; undefined for the first store that works. */
  preferredStore: MasterStoreName | undefined;
  /** Reads the passphrase from its configured file; undefined without one. */
  readPassphrase: ReadPassphrase | undefined;
}

export interface MasterStoreSettings {
  /** A key file provided by the operator. */
  file: string | undefined;
  usesKeychain: boolean;
  /** The folder of a plain key file; undefined where that is not allowed. */
  plainFolder: string | undefined;
  env: Env;
}

/** In milliseconds; `prompting` leaves a person the time to type a password. */
const keychainTimeouts = { unattended: 5_000, prompting: 60_000 };

/** The vault settings of the configuration. `env` is passed on to the keychain's process. */
export function vaultSettings(
  { dataFolder, vault }: Pick<Config, 'dataFolder' | 'vault'>,
  env: Env,
): VaultSettings {
  return {
    preferredStore: vault.store,
    readPassphrase: vault.passphraseFile === undefined ? undefined : passphraseFrom(vault.passphraseFile),
    masterStores: masterStores({
      file: vault.masterKeyFile,
      usesKeychain: vault.usesKeychain,
      plainFolder: vault.allowsPlainFile ? dataFolder : undefined,
      env,
    }),
  };
}

/** The stores that this host has for a master key. Nothing is opened yet. */
export function masterStores({ file, usesKeychain, plainFolder, env }: MasterStoreSettings): MasterStores {
  return {
    file: file === undefined ? undefined : fileStore(file),
    keychain: usesKeychain ? keychainStore(env) : undefined,
    plain: plainFolder === undefined ? undefined : plainStore(plainFolder),
  };
}

/** The operating system's keychain; the account is `master:<key id>`. */
function keychainStore(env: Env): MasterStore {
  const keychain = openKeychain({ timeoutMs: keychainTimeouts.unattended, env });
  const patient = openKeychain({ timeoutMs: keychainTimeouts.prompting, env });
  const account = (kid: string) => `master:${kid}`;
  return {
    find: (kid, { isInteractive }) =>
      withMessages(async () => {
        const text = await (isInteractive ? patient : keychain).get(account(kid));
        if (text === undefined) return [];
        // An item that is not a key still exists: the vault must not create another.
        return [parseMasterKey(text) ?? new Uint8Array(0)];
      }),
    add: (kid, fresh) =>
      withMessages(async () => {
        await keychain.set(account(kid), Buffer.from(fresh).toString('base64url'));
        return fresh;
      }),
    delete: (kid) => withMessages(async () => void (await keychain.delete(account(kid)))),
  };
}

/** The operator's file with one key per line, newest first. It is never written. */
function fileStore(path: string): MasterStore {
  const read = () =>
    withMessages(async () => {
      requireFile(path);
      const text = await readSecretFile(path);
      if (text === undefined) throw new MasterStoreFailure(`${path} does not exist.`);
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      const keys = lines.map(parseMasterKey);
      if (keys.length === 0 || keys.includes(undefined)) {
        throw new MasterStoreFailure(
          `${path} must contain a 32-byte key in base64 or hex, such as the output of: openssl rand -base64 32`,
        );
      }
      return keys.filter((key) => key !== undefined);
    });
  return {
    find: read,
    async add(_kid, _fresh, isUsed) {
      const key = (await read()).find((candidate) => !isUsed(candidate));
      if (key) return key;
      throw new MasterStoreFailure(`${path} has no new key: add one on a line before the others.`);
    },
    delete: async () => {},
  };
}

const passphraseCharactersMin = 8;
/** A password manager asks a person first. */
const passphraseWaitMs = 60_000;

/** Reads the passphrase from a file that only its owner can read, or from a descriptor such as `/dev/fd/3`. */
export function passphraseFrom(path: string): ReadPassphrase {
  let read: string | undefined;
  let reading: ReturnType<typeof readSecretFile> | undefined;
  const keepFormer = (error: unknown) => {
    if (error instanceof FileUnreadable && read !== undefined) return read;
    throw error;
  };
  return () =>
    withMessages(async () => {
      // Two reads of a pipe would each get a part of what is in it.
      reading ??= readSecretFile(path, { waitMs: read === undefined ? passphraseWaitMs : 0 }).finally(() => {
        reading = undefined;
      });
      // A pipe can be read only once; a corrected file is read again.
      const text = (await reading.catch(keepFormer)) || read;
      if (text === undefined) throw new MasterStoreFailure(`${path} does not exist.`);
      if (text.length < passphraseCharactersMin) {
        throw new MasterStoreFailure(
          `${path} must contain a passphrase of at least ${passphraseCharactersMin} characters.`,
        );
      }
      read = text;
      return text;
    });
}

/** A file in the data folder: anyone who can read the database can read the key, too. */
function plainStore(folder: string): MasterStore {
  const path = (kid: string) => `${folder}/master-key-${kid}`;
  return {
    find: (kid) =>
      withMessages(async () => {
        const text = await readSecretFile(path(kid));
        return text === undefined ? [] : [parseMasterKey(text) ?? new Uint8Array(0)];
      }),
    add: (kid, fresh) =>
      withMessages(async () => {
        const text = Buffer.from(fresh).toString('base64url');
        // An existing file may be the only copy of a key.
        const file = await open(path(kid), 'wx', 0o600);
        try {
          await file.writeFile(`${text}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        const kept = await readFile(path(kid), 'utf8');
        if (kept.trim() !== text)
          throw new MasterStoreFailure(`${path(kid)} does not contain what was written.`);
        return fresh;
      }),
    delete: (kid) => withMessages(() => unlink(path(kid))),
  };
}

/** Turns failures of a store into messages for the operator. */
async function withMessages<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MasterStoreFailure) throw error;
    for (const kind of [KeychainFailure, FolderUnsafe, DataFileUnusable, FileUnreadable]) {
      if (error instanceof kind) throw new MasterStoreFailure(error.message, { cause: error });
    }
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new MasterStoreFailure(`${path ?? 'The file'}: ${code}`, { cause: error });
    throw error;
  }
}
