import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keychain } from '../../keychain/index.ts';
import { exitCodes } from '../../shared/errors.ts';
import { foldersOf } from '../../shared/folders.ts';
import { CliError } from '../failures/cli-error.ts';
import type { LoginPlace, NamedHost } from './host-file.ts';
import type { Surroundings } from './hosts.ts';

/** A person is there to type a password. */
const keychainTimeoutMs = 60_000;
const fileName = 'host-logins.json';
const insecureAdvice =
  'A login can be kept in a file that only you can read, too, unencrypted: gateway login --insecure-storage';

/** Which login, and where it lies. */
type Kept = Pick<NamedHost, 'url' | 'login' | 'session'>;

/** Logins of remote hosts, each under its address and its own id. Everything throws a CliError that says what helps. */
export function remoteLogins(surroundings: Surroundings) {
  const account = ({ url, session }: Kept) => `login ${url} ${session}`;
  return {
    /** Fails where nothing could be kept, before anything is used up. */
    async check(place: LoginPlace): Promise<void> {
      if (place === 'file') return;
      await withKeychain(surroundings, async (keychain) => {
        await keychain.set('probe', 'probe');
        await keychain.delete('probe');
      });
    },

    async read(kept: Kept): Promise<string | undefined> {
      const { url, login } = kept;
      if (login === null) return undefined;
      if (login === 'file') return readFile(surroundings)[account(kept)];
      const secret = await withKeychain(surroundings, (keychain) => keychain.get(account(kept)));
      if (secret !== undefined) return secret;
      throw new CliError(`The keychain holds no login for ${url}, or is locked.`, {
        exit: exitCodes.signIn,
        next: `Unlock it, or log in again: gateway login ${url}`,
      });
    },

    async keep(kept: Kept, secret: string): Promise<void> {
      const name = account(kept);
      if (kept.login === 'file') changeFile(surroundings, (logins) => ({ ...logins, [name]: secret }));
      else await withKeychain(surroundings, (keychain) => keychain.set(name, secret));
    },

    async forget(kept: Kept): Promise<void> {
      const name = account(kept);
      if (kept.login === 'keychain') {
        await withKeychain(surroundings, (keychain) => keychain.delete(name));
      } else if (kept.login === 'file') {
        changeFile(surroundings, ({ [name]: _, ...others }) => others);
      }
    },
  };
}

async function withKeychain<T>({ env }: Surroundings, use: (keychain: Keychain) => Promise<T>): Promise<T> {
  const { openKeychain, KeychainFailure } = await import('../../keychain/index.ts');
  try {
    return await use(openKeychain({ timeoutMs: keychainTimeoutMs, env }));
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    throw new CliError(error.message, { exit: exitCodes.failed, next: insecureAdvice, cause: error });
  }
}

function readFile(surroundings: Surroundings): Record<string, string> {
  const path = join(foldersOf(surroundings).data, fileName);
  try {
    if (surroundings.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw new CliError(`${path} can be read by others.`, {
        exit: exitCodes.failed,
        next: `Log in again after: rm ${path}`,
      });
    }
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read.`, { exit: exitCodes.failed, cause: error });
  }
}

function changeFile(
  surroundings: Surroundings,
  change: (logins: Record<string, string>) => Record<string, string>,
): void {
  const { data } = foldersOf(surroundings);
  const changed = change(readFile(surroundings));
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const unfinished = join(data, `${fileName}.${process.pid}`);
  writeFileSync(unfinished, JSON.stringify(changed), { mode: 0o600 });
  renameSync(unfinished, join(data, fileName));
}
