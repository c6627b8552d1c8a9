import { exitCodes } from '../../shared/errors.ts';
import { type DaemonFile, dataFiles, type Environment } from '../../shared/folders.ts';
import { isLoopback } from '../../shared/http/loopback.ts';
import { bareKey, isSendableKey } from '../../shared/text/bare-value.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { differsInLoopbackName, hostUrl, socketPathOf } from './host-address.ts';
import { findHostEntry, type HostFile, localName, type NamedHost, readHostFile } from './host-file.ts';
import { readDaemonFile, readSecret, socketOf } from './local-daemon.ts';

/** A daemon that commands connect to. */
export interface Host {
  /** `http://…`, `https://…` or `unix:/…`. */
  url: string;
  /** A Unix socket that leads to the same daemon. */
  socket?: string | undefined;
  /** A remote host's token is a function that reads it from where it is stored. */
  token: string | (() => Promise<string | undefined>) | undefined;
  /** Its name in `hosts.json`, or `local`; undefined for a host that is not configured. */
  name: string | undefined;
  /** The workspace to act in; undefined for the caller's own. */
  workspace: string | undefined;
  /** Whether it was found through the files of the local daemon. */
  isLocal: boolean;
}

export function notRunning(): CliError {
  return new CliError('The daemon is not running.', {
    exit: exitCodes.tryLater,
    next: 'Start it with: gateway serve',
  });
}

export function noSuchHost(name: string): CliError {
  return new CliError(`No host named ${JSON.stringify(name)} is configured.`, {
    exit: exitCodes.failed,
    next: 'List the hosts: gateway host list. Add one: gateway host add NAME URL',
  });
}

/**
 * The host: `--host`, else GATEWAY_HOST, else the host in use, else the local daemon. Its key: GATEWAY_KEY, else the
 * stored login for that host or the local daemon's own login key.
 */
export function findHost(flag: string | undefined, environment: Environment): Host {
  const { env } = environment;
  const file = readHostFile(environment);
  const { name: wanted } = selectedHost(flag, environment, file);
  const local = readDaemonFile(environment);
  const found = wanted === localName ? localHost(local) : addressed(wanted, file, local);
  const { url, socket, isLocal, entry } = found;
  const token = keyIn(env) || storedToken(found, environment);
  const chosen = entry ? entry.workspace : isLocal ? file.localWorkspace : null;
  // An API key belongs to one workspace, so with GATEWAY_KEY only GATEWAY_WORKSPACE can select another.
  const workspace = env.GATEWAY_WORKSPACE || (env.GATEWAY_KEY ? undefined : (chosen ?? undefined));
  const name = entry?.name ?? (isLocal ? localName : undefined);
  return { url, socket, token, name, workspace, isLocal };
}

/** This machine's daemon with its own login: a key for another host is not shown to it. */
export function findThisMachine({ env, platform, home }: Environment): Host {
  const own = { ...env, GATEWAY_KEY: undefined, GATEWAY_WORKSPACE: undefined };
  return findHost(localName, { env: own, platform, home });
}

/** A key that cannot be sent as a header would fail without a word about it. */
function keyIn({ GATEWAY_KEY: key = '' }: Environment['env']): string {
  if (isSendableKey(key)) return bareKey(key);
  throw new CliError('GATEWAY_KEY has a line end or characters that no key has.', {
    exit: exitCodes.signIn,
    next: "Set it to a valid key, or unset it to use this machine's own login.",
  });
}

/** The name or address of the host to use, and whether the flag or the environment named it; `local` is this machine's. */
export function selectedHost(
  flag: string | undefined,
  environment: Environment,
  file = readHostFile(environment),
): { name: string; isExplicit: boolean } {
  const explicit = flag ?? (environment.env.GATEWAY_HOST || undefined);
  return { name: explicit ?? file.current ?? localName, isExplicit: explicit !== undefined };
}

/** Whether commands would use this machine's daemon, and it is not running. */
export function isLocalDown(context: Environment & { flags: { host?: string | undefined } }): boolean {
  return (
    selectedHost(context.flags.host, context).name === localName && readDaemonFile(context) === undefined
  );
}

/** Fails for a host on another machine, as `what` is a file there. */
export function checkIsThisMachine(
  context: Environment & { flags: { host?: string | undefined } },
  what: string,
): void {
  const { name } = selectedHost(context.flags.host, context);
  if (name === localName) return;
  const local = readDaemonFile(context);
  const { isLocal, entry, url } = addressed(name, readHostFile(context), local);
  // Without a daemon here, the address may be where it will run.
  if (isLocal || (local === undefined && entry === undefined && isHere(url))) return;
  throw usageError(
    `${what} of ${name} is a file of its own machine.`,
    `Run this there. For that of this machine: --host ${localName}`,
  );
}

function isHere(url: string): boolean {
  return socketPathOf(url) !== undefined || isLoopback(URL.parse(url)?.hostname ?? '');
}

interface FoundHost extends Pick<Host, 'url' | 'socket' | 'isLocal'> {
  entry: (NamedHost & { name: string }) | undefined;
}

function localHost(local: DaemonFile | undefined): FoundHost {
  if (local === undefined) throw notRunning();
  return { url: local.url, socket: socketOf(local), isLocal: true, entry: undefined };
}

/** A host given by its name or address. */
function addressed(wanted: string, file: HostFile, local: DaemonFile | undefined): FoundHost {
  const named = findHostEntry(file, wanted);
  // A bare word is meant as a name: sending a key to https://nosuch would only fail later, or reach a stranger.
  if (!named && /^[\w-]+$/.test(wanted) && wanted !== 'localhost') throw noSuchHost(wanted);
  const address = named?.url ?? hostUrl(wanted);
  const own = asLocal(address, local);
  return {
    ...(own ?? { url: address, socket: undefined }),
    isLocal: own !== undefined,
    entry: named ?? entryWithUrl(file, address),
  };
}

function entryWithUrl(file: HostFile, url: string): FoundHost['entry'] {
  const name = Object.keys(file.hosts).find((one) => file.hosts[one]?.url === url);
  return name === undefined ? undefined : findHostEntry(file, name);
}

function storedToken({ entry, isLocal }: FoundHost, environment: Environment): Host['token'] {
  if (entry?.login) {
    return async () => (await import('./remote-login.ts')).remoteLogins(environment).read(entry);
  }
  // The login key gives full access to this machine's daemon, so only the daemon that wrote it gets it.
  return isLocal ? readSecret(environment, dataFiles.login) : undefined;
}

/** The local daemon's URL and socket, if `address` is one of its own; other hosts must not get its login key. */
function asLocal(address: string, local: DaemonFile | undefined): Pick<Host, 'url' | 'socket'> | undefined {
  if (local === undefined) return undefined;
  const path = socketPathOf(address);
  if (path !== undefined) return path === local.socket ? { url: local.url, socket: path } : undefined;
  // `localhost` may also resolve to ::1, where another process may be listening.
  if (differsInLoopbackName(address, local.url)) return { url: local.url };
  return URL.parse(address)?.origin === URL.parse(local.url)?.origin ? { url: address } : undefined;
}
