import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import { foldersOf } from '../../shared/folders.ts';
import { CliError } from '../failures/cli-error.ts';
import type { Surroundings } from './hosts.ts';

/** Where the login key of a remote host is kept: in the keychain, or in a file that only its owner can read. */
export type LoginPlace = 'keychain' | 'file';

/** A host that has a name here. */
export interface NamedHost {
  url: string;
  /** Null while nobody is logged in. */
  login: LoginPlace | null;
  /** The id of that login: two people, or two folders of settings, may log in to one host. */
  session: string | null;
  /** The handle of whoever is logged in. */
  user: string | null;
  /** The id of the workspace to act in; null for the user's own. */
  workspace: string | null;
}

/** A host that nobody is logged in to. */
export function loggedOut(url: string): NamedHost {
  return { url, login: null, session: null, user: null, workspace: null };
}

/** `hosts.json` of the config folder; it holds no secrets. */
export interface HostFile {
  /** The name of the host that is spoken to when none is said; null for this machine's daemon. */
  current: string | null;
  hosts: Record<string, NamedHost>;
  /** The workspace to act in on this machine's daemon. */
  localWorkspace: string | null;
}

const fileName = 'hosts.json';

/** The daemon of this machine, which needs no entry. */
export const localName = 'local';

export function readHostFile(surroundings: Surroundings): HostFile {
  const path = join(foldersOf(surroundings).config, fileName);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { current: null, hosts: {}, localWorkspace: null };
    throw new CliError(`${path} cannot be read (${code}).`, { exit: exitCodes.failed, cause: error });
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
    const next = 'Mend it, or remove it and log in again: gateway login URL';
    throw new CliError(`${path} is damaged.`, { exit: exitCodes.failed, next, cause: error });
  }
}

/** Reads, changes and replaces it whole. */
export function changeHostFile(surroundings: Surroundings, change: (file: HostFile) => void): void {
  const file = readHostFile(surroundings);
  change(file);
  const folder = foldersOf(surroundings).config;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = join(folder, `${fileName}.${process.pid}`);
  writeFileSync(unfinished, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, join(folder, fileName));
}

/** The entry of this name, with its name; own members alone, so that `constructor` names nothing. */
export function hostNamed(file: HostFile, name: string): (NamedHost & { name: string }) | undefined {
  const found = Object.hasOwn(file.hosts, name) ? file.hosts[name] : undefined;
  return found && { ...found, name };
}
