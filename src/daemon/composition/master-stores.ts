import { open, readFile, unlink } from 'node:fs/promises';
import { KeychainFailure, openKeychain } from '../../keychain/index.ts';
import type { Config } from '../config/config.ts';
import {
  type MasterStore,
  MasterStoreFailure,
  type MasterStores,
  parseMasterKey,
  type ReadPassphrase,
} from '../features/vault/index.ts';
import { FolderUnsafe, readSecretFile } from '../process/data-folder.ts';
import type { VaultSettings } from './own-keys.ts';

type Env = Record<string, string | undefined>;

export interface MasterStoreSettings {
  /** A file that the owner of this host made; undefined for none. */
  file: string | undefined;
  usesKeychain: boolean;
  /** The folder for a plain file, where one is allowed; undefined where not. */
  plainFolder: string | undefined;
  env: Env;
}

/** In milliseconds: while nobody is asked for a password, and while somebody may be. */
const keychainTimeouts = { unasked: 5_000, awaited: 60_000 };

/** What the configuration says of the vault. `env` is that of the process, for the keychain's. */
export function vaultSettings(
  { dataFolder, vault }: Pick<Config, 'dataFolder' | 'vault'>,
  env: Env,
): VaultSettings {
  return {
    preferredStore: vault.store,
    readPassphrase: vault.passphraseFile === undefined ? undefined : passphraseIn(vault.passphraseFile),
    masterStores: masterStores({
      file: vault.masterKeyFile,
      usesKeychain: vault.usesKeychain,
      plainFolder: vault.allowsPlainFile ? dataFolder : undefined,
      env,
    }),
  };
}

/** The places that this host has for a master key. Nothing is touched yet. */
export function masterStores({ file, usesKeychain, plainFolder, env }: MasterStoreSettings): MasterStores {
  return {
    file: file === undefined ? undefined : fileStore(file),
    keychain: usesKeychain ? keychainStore(env) : undefined,
    plain: plainFolder === undefined ? undefined : plainStore(plainFolder),
  };
}

/** The keychain of the operating system, under `master:<kid>`. */
function keychainStore(env: Env): MasterStore {
  const keychain = openKeychain({ timeoutMs: keychainTimeouts.unasked, env });
  const patient = openKeychain({ timeoutMs: keychainTimeouts.awaited, env });
  const account = (kid: string) => `master:${kid}`;
  return {
    find: (kid, { isAwaited }) =>
      telling(async () => {
        const text = await (isAwaited ? patient : keychain).get(account(kid));
        if (text === undefined) return [];
        // Somebody changed it: no key of ours, and not nothing either.
        return [parseMasterKey(text) ?? new Uint8Array(0)];
      }),
    keep: (kid, fresh) =>
      telling(async () => {
        await keychain.set(account(kid), Buffer.from(fresh).toString('base64url'));
        return fresh;
      }),
    drop: (kid) => telling(async () => void (await keychain.delete(account(kid)))),
  };
}

/** A file of somebody else's making with a key a line, the newest first. It is read and never written. */
function fileStore(path: string): MasterStore {
  const read = () =>
    telling(async () => {
      const text = await readSecretFile(path);
      if (text === undefined) throw new MasterStoreFailure(`There is no file ${path}.`);
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      const keys = lines.map(parseMasterKey);
      if (keys.length === 0 || keys.includes(undefined)) {
        throw new MasterStoreFailure(
          `${path} must hold a key of 32 bytes in base64 or hex, as from: openssl rand -base64 32`,
        );
      }
      return keys.filter((key) => key !== undefined);
    });
  return {
    find: read,
    async keep(_kid, _fresh, isUsed) {
      const key = (await read()).find((candidate) => !isUsed(candidate));
      if (key) return key;
      throw new MasterStoreFailure(`${path} holds no new key: put one on a line before the others.`);
    },
    drop: async () => {},
  };
}

const passphraseCharactersMin = 8;

/** The passphrase in a file of its owner's alone, or in what was opened for this process: `/dev/fd/3`. */
export function passphraseIn(path: string): ReadPassphrase {
  let read: string | undefined;
  return () =>
    telling(async () => {
      // A pipe gives it once only; a file that was mended is read again.
      const text = (await readSecretFile(path)) || read;
      if (text === undefined) throw new MasterStoreFailure(`There is no file ${path}.`);
      if (text.length < passphraseCharactersMin) {
        const length = `${path} must hold a passphrase of ${passphraseCharactersMin} characters or more.`;
        throw new MasterStoreFailure(length);
      }
      read = text;
      return text;
    });
}

/** A file beside the database: whoever reads the one reads the other. */
function plainStore(folder: string): MasterStore {
  const path = (kid: string) => `${folder}/master-key-${kid}`;
  return {
    find: (kid) =>
      telling(async () => {
        const text = await readSecretFile(path(kid));
        return text === undefined ? [] : [parseMasterKey(text) ?? new Uint8Array(0)];
      }),
    keep: (kid, fresh) =>
      telling(async () => {
        const text = Buffer.from(fresh).toString('base64url');
        // It must not be there yet: what is there may be the only copy of a key.
        const file = await open(path(kid), 'wx', 0o600);
        try {
          await file.writeFile(`${text}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        const kept = await readFile(path(kid), 'utf8');
        if (kept.trim() !== text) throw new MasterStoreFailure(`${path(kid)} does not keep what is written.`);
        return fresh;
      }),
    drop: (kid) => telling(() => unlink(path(kid))),
  };
}

/** Turns what stores fail with into a sentence that says what helps. */
async function telling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MasterStoreFailure) throw error;
    if (error instanceof KeychainFailure || error instanceof FolderUnsafe) {
      throw new MasterStoreFailure(error.message, { cause: error });
    }
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new MasterStoreFailure(`${path ?? 'The file'}: ${code}`, { cause: error });
    throw error;
  }
}
