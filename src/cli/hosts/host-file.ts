import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import { type Environment, foldersOf } from '../../shared/folders.ts';
import { changeFile } from '../change-file.ts';
import { CliError } from '../failures/cli-error.ts';

/** Where the login key of a remote host is stored: in the keychain, or in a file that only its owner can read. */
export type LoginStore = 'keychain' | 'file';

/** A configured host. */
export interface NamedHost {
  url: string;
  /** Null while logged out. */
  login: LoginStore | null;
  /** The id of that login: two users, or two config folders, may log in to one host. */
  session: string | null;
  /** The handle of the logged-in user. */
  user: string | null;
  /** The id of the workspace to act in; null for the user's own. */
  workspace: string | null;
}

/** The entry of a host without a login. */
export function loggedOut(url: string): NamedHost {
  return { url, login: null, session: null, user: null, workspace: null };
}

/** `hosts.json` in the config folder; it holds no secrets. */
export interface HostFile {
  /** The name of the host that commands connect to by default; null for this machine's daemon. */
  current: string | null;
  hosts: Record<string, NamedHost>;
  /** The workspace to act in on this machine's daemon; null for the owner's own. */
  localWorkspace: string | null;
}

const fileName = 'hosts.json';

/** The name of this machine's daemon, which needs no entry. */
export const localName = 'local';

export function readHostFile(environment: Environment): HostFile {
  const path = join(foldersOf(environment).config, fileName);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { current: null, hosts: {}, localWorkspace: null };
    throw new CliError(`Cannot read ${path} (${code}).`, { exit: exitCodes.failed, cause: error });
  }
  try {
    const file = JSON.parse(text) as Partial<HostFile>;
    const hosts = Object.entries(file.hosts ?? {}).filter(([, host]) => URL.canParse(host.url));
    return {
      current: file.current ?? null,
      hosts: Object.fromEntries(hosts),
      localWorkspace: file.localWorkspace ?? null,
    };
  } catch (error) {
    const next = 'Fix it, or delete it and log in again: gateway login URL';
    throw new CliError(`${path} is not valid.`, { exit: exitCodes.failed, next, cause: error });
  }
}

/** Changes `hosts.json`, replacing the whole file. */
export function changeHostFile(environment: Environment, change: (file: HostFile) => void): void {
  changeFile(join(foldersOf(environment).config, fileName), () => {
    const file = readHostFile(environment);
    change(file);
    return `${JSON.stringify(file, null, 2)}\n`;
  });
}

/** The entry with this name. */
export function findHostEntry(file: HostFile, name: string): (NamedHost & { name: string }) | undefined {
  // Own properties only: `constructor` is no host.
  const found = Object.hasOwn(file.hosts, name) ? file.hosts[name] : undefined;
  return found && { ...found, name };
}
