import { exitCodes } from '../../shared/errors.ts';
import { type DaemonFile, dataFiles } from '../../shared/folders.ts';
import { CliError } from '../failures/cli-error.ts';
import { hostUrl, isOtherName, socketPathOf } from './host-address.ts';
import { type HostFile, hostNamed, localName, type NamedHost, readHostFile } from './host-file.ts';
import { readDaemonFile, readSecret, socketOf } from './local-daemon.ts';

/** A daemon that commands can speak to. */
export interface Host {
  /** `http://…`, `https://…` or `unix:/…`. */
  url: string;
  /** A Unix socket that leads there too. */
  socket?: string | undefined;
  /** Of a remote host, it is read from where it is kept when it is first needed. */
  token: string | (() => Promise<string | undefined>) | undefined;
  /** By which it is known here; undefined for one that has none. */
  name: string | undefined;
  /** The workspace to act in; undefined for the caller's own. */
  workspace: string | undefined;
  /** Whether it was found through the files of the local daemon. */
  isLocal: boolean;
}

export interface Surroundings {
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

/** What a person is told when no local daemon answers. */
export function notRunning(): CliError {
  return new CliError('The daemon is not running.', {
    exit: exitCodes.tryLater,
    next: 'Start it with: gateway serve',
  });
}

/**
 * `--host`, else GATEWAY_HOST, else the host in use, else the local daemon; the key is GATEWAY_KEY, else the login that was
 * kept for that host, or the local daemon's own login key.
 */
export function findHost(flag: string | undefined, surroundings: Surroundings): Host {
  const { env } = surroundings;
  const file = readHostFile(surroundings);
  const { said } = meantHost(flag, surroundings, file);
  const local = readDaemonFile(surroundings);
  if (said === localName && local === undefined) throw notRunning();
  const address =
    said === localName ? (local as DaemonFile).url : (hostNamed(file, said)?.url ?? hostUrl(said));
  const own = said === localName ? { url: address, socket: socketOf(local) } : asLocal(address, local);
  const { url, socket } = own ?? { url: address, socket: undefined };
  const isLocal = own !== undefined;
  const entry = said === localName ? undefined : entryOf(file, said, address);
  const kept = () =>
    entry?.login ? keptLogin(entry, surroundings) : isLocal ? localLogin(surroundings) : undefined;
  const token = env.GATEWAY_KEY || kept();
  const chosen = entry ? entry.workspace : isLocal ? file.localWorkspace : null;
  // An API key belongs to one workspace, and whoever sets a key in the environment says the workspace there too.
  const workspace = env.GATEWAY_WORKSPACE || (env.GATEWAY_KEY ? undefined : (chosen ?? undefined));
  const name = entry?.name ?? (isLocal ? localName : undefined);
  return { url, socket, token, name, workspace, isLocal };
}

/** The host that is meant, as it was named, and by whom; `local` is the daemon of this machine. */
export function meantHost(
  flag: string | undefined,
  surroundings: Surroundings,
  file = readHostFile(surroundings),
): { said: string; isNamed: boolean } {
  const named = flag ?? (surroundings.env.GATEWAY_HOST || undefined);
  return { said: named ?? file.current ?? localName, isNamed: named !== undefined };
}

/** Whether this machine's daemon is meant, and it does not run. */
export function isLocalDown(context: Surroundings & { flags: { host?: string | undefined } }): boolean {
  return meantHost(context.flags.host, context).said === localName && readDaemonFile(context) === undefined;
}

/** A host that was named by its address is the entry of that address. */
function entryOf(file: HostFile, said: string, url: string) {
  const name = Object.keys(file.hosts).find((one) => one === said) ?? nameOf(file, url);
  return name === undefined ? undefined : hostNamed(file, name);
}

function nameOf({ hosts }: HostFile, url: string): string | undefined {
  return Object.keys(hosts).find((name) => hosts[name]?.url === url);
}

// The login key opens everything on this machine: it is sent to the daemon that wrote it and to nobody else.
function localLogin(surroundings: Surroundings): string | undefined {
  return readSecret(surroundings, dataFiles.login);
}

function keptLogin(entry: NamedHost, surroundings: Surroundings): Host['token'] {
  return async () => (await import('./remote-login.ts')).remoteLogins(surroundings).read(entry);
}

/** How the local daemon is spoken to where an address is one of its own; undefined for others, which get no login key. */
function asLocal(address: string, local: DaemonFile | undefined): Pick<Host, 'url' | 'socket'> | undefined {
  if (local === undefined) return undefined;
  const path = socketPathOf(address);
  if (path !== undefined) return path === local.socket ? { url: local.url, socket: path } : undefined;
  // Who listens at the other address of that name may be somebody else.
  if (isOtherName(address, local.url)) return { url: local.url };
  return URL.parse(address)?.origin === URL.parse(local.url)?.origin ? { url: address } : undefined;
}
