import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Keychain } from '../../keychain/index.ts';
import { exitCodes } from '../../shared/errors.ts';
import { type Environment, foldersOf } from '../../shared/folders.ts';
import { changeFile } from '../change-file.ts';
import { CliError } from '../failures/cli-error.ts';
import type { LoginStore, NamedHost } from './host-file.ts';

/** Time for the user to type a password. */
const keychainTimeoutMs = 60_000;
const fileName = 'host-logins.json';
const insecureAdvice =
  'To store the login unencrypted in a file that only you can read, add --insecure-storage to gateway login.';

/** Identifies a stored login. */
type StoredLogin = Pick<NamedHost, 'url' | 'login' | 'session'>;

/** Stores the login keys of remote hosts, each under its address and id. Failures are CliErrors with advice. */
export function remoteLogins(environment: Environment) {
  const account = ({ url, session }: StoredLogin) => `login ${url} ${session}`;
  return {
    /** Throws if nothing could be stored; called before a one-time code is used. */
    async check(store: LoginStore): Promise<void> {
      if (store === 'file') return;
      await withKeychain(environment, async (keychain) => {
        await keychain.set('probe', 'probe');
        await keychain.delete('probe');
      });
    },

    async read(stored: StoredLogin): Promise<string | undefined> {
      const { url, login } = stored;
      if (login === null) return undefined;
      if (login === 'file') return readFile(environment)[account(stored)];
      const secret = await withKeychain(environment, (keychain) => keychain.get(account(stored)));
      if (secret !== undefined) return secret;
      throw new CliError(`The keychain has no login for ${url}, or is locked.`, {
        exit: exitCodes.signIn,
        next: `Unlock it, or log in again: gateway login ${url}`,
      });
    },

    async store(stored: StoredLogin, secret: string): Promise<void> {
      const name = account(stored);
      if (stored.login === 'file') changeLogins(environment, (logins) => ({ ...logins, [name]: secret }));
      else await withKeychain(environment, (keychain) => keychain.set(name, secret));
    },

    async forget(stored: StoredLogin): Promise<void> {
      const name = account(stored);
      if (stored.login === 'keychain') {
        await withKeychain(environment, (keychain) => keychain.delete(name));
      } else if (stored.login === 'file') {
        changeLogins(environment, ({ [name]: _, ...others }) => others);
      }
    },
  };
}

async function withKeychain<T>({ env }: Environment, use: (keychain: Keychain) => Promise<T>): Promise<T> {
  const { openKeychain, KeychainFailure } = await import('../../keychain/index.ts');
  try {
    return await use(openKeychain({ timeoutMs: keychainTimeoutMs, env }));
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    throw new CliError(error.message, { exit: exitCodes.failed, next: insecureAdvice, cause: error });
  }
}

function readFile(environment: Environment): Record<string, string> {
  const path = join(foldersOf(environment).data, fileName);
  try {
    if (environment.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw new CliError(`${path} can be read by other users.`, {
        exit: exitCodes.failed,
        next: `Delete it and log in again: rm ${path}`,
      });
    }
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot read ${path}.`, { exit: exitCodes.failed, cause: error });
  }
}

function changeLogins(
  environment: Environment,
  change: (logins: Record<string, string>) => Record<string, string>,
): void {
  changeFile(join(foldersOf(environment).data, fileName), () =>
    JSON.stringify(change(readFile(environment))),
  );
}
