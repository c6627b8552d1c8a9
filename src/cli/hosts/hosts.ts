import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import { type DaemonFile, dataFiles, foldersOf } from '../../shared/folders.ts';
import { CliError } from '../cli-error.ts';
import { type HostFile, hostNamed, localName, type NamedHost, readHostFile } from './host-file.ts';
import { socketAddress, socketPathOf } from './socket-address.ts';

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
  const url = said === localName ? (local as DaemonFile).url : (hostNamed(file, said)?.url ?? hostUrl(said));
  const isLocal = local !== undefined && isItsAddress(url, local);
  const socket = said === localName ? socketOf(local) : undefined;
  const entry = said === localName ? undefined : entryOf(file, said, url);
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

/** The socket of the local daemon, which nobody else can take as they could its port; not one that was removed. */
function socketOf(local: DaemonFile | undefined): string | undefined {
  const path = local?.socket ?? undefined;
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isSocket() ? path : undefined;
}

// The login key opens everything on this machine: it is sent to the daemon that wrote it and to nobody else.
function localLogin(surroundings: Surroundings): string | undefined {
  return readSecret(surroundings, dataFiles.login);
}

function keptLogin(entry: NamedHost, surroundings: Surroundings): Host['token'] {
  return async () => (await import('./remote-login.ts')).remoteLogins(surroundings).read(entry);
}

/** The running local daemon, by the file that it wrote; undefined when there is none or its process is gone. */
export function readDaemonFile(surroundings: Surroundings): DaemonFile | undefined {
  const path = join(foldersOf(surroundings).data, dataFiles.daemon);
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const file = JSON.parse(text) as DaemonFile;
    return typeof file.url === 'string' && isOfOwner(path, file.pid) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** A secret of the data folder; undefined when it is not there. One that others can read or have made is refused. */
export function readSecret(surroundings: Surroundings, name: string): string | undefined {
  const path = join(foldersOf(surroundings).data, name);
  return readText(path, (stats) => refuseOpen(path, stats))?.trim() || undefined;
}

function refuseOpen(path: string, { mode, uid }: Stats): void {
  if (process.platform === 'win32') return;
  const refused = (what: string, next: string) =>
    new CliError(`${path} ${what}.`, { exit: exitCodes.failed, next });
  if ((mode & 0o077) !== 0) throw refused('can be read by others', `Run: chmod 600 ${path}`);
  if (!isOwnOrRoots(uid))
    throw refused('belongs to another user', 'Set GATEWAY_HOME to a folder of your own.');
}

/** What root does with a user's files is the user's business; what another user left is a trap. */
function isOwnOrRoots(uid: number): boolean {
  const own = process.getuid?.();
  return own === undefined || own === 0 || uid === own || uid === 0;
}

/** Whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // A process of another user is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether a process has ended and only its number is left: in a container whose first process never asks how its
 * children ended, that stays so. Source: proc_pid_stat(5); what is told stands behind the name, which may hold anything.
 */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const [state, ...numbers] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const threads = Number(numbers[16]);
    // Its first thread may be gone while another holds its files still.
    return (state === 'Z' || state === 'X') && threads <= 1;
  } catch {
    return false;
  }
}

/**
 * Whether a process is that of the user who owns a file. One of another user has the number of a daemon that is gone, and
 * may have its port as well: it gets no key.
 */
function isOfOwner(path: string, pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (isZombie(pid)) return false;
    // Root may signal everybody, and only Linux tells it whose a process is.
    if (process.getuid?.() !== 0) return isOwnOrRoots(statSync(path).uid);
    const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? 0;
    return owner === 0 || owner === statSync(path).uid;
  } catch {
    return false;
  }
}

/** `127.0.0.1:4100`, `gateway.example.org`, `unix:/PATH` or a whole URL; a name without a scheme is spoken to over TLS unless it is this machine. */
export function hostUrl(name: string): string {
  const wrong = new CliError(`"${name}" is not the address of a host.`, {
    exit: exitCodes.usage,
    next: 'Write it like http://127.0.0.1:4100, https://gateway.example.org or unix:/run/gateway.sock',
  });
  const path = socketPathOf(name);
  if (path !== undefined) return socketAddress(path);
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
  const url = URL.parse(hasScheme ? name : `http://${name}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) throw wrong;
  if (!hasScheme && !isLoopback(url.hostname)) url.protocol = 'https:';
  return url.href.replace(/\/+$/, '');
}

/** Whether a key sent to this address could be read on the way. */
export function isSentInClear(url: string): boolean {
  const parsed = new URL(url);
  return parsed.protocol === 'http:' && !isLoopback(parsed.hostname);
}

/** Whether an address leads to the machine that it is used on. */
export function isLoopbackUrl(url: string): boolean {
  return socketPathOf(url) !== undefined || isLoopback(new URL(url).hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Whether an address leads to the local daemon. All addresses but those of HTTP have the same origin: none. */
function isItsAddress(address: string, { url, socket }: DaemonFile): boolean {
  const path = socketPathOf(address);
  if (path !== undefined) return path === socket;
  return URL.parse(address)?.origin === URL.parse(url)?.origin;
}

function readText(path: string, check?: (stats: Stats) => void): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      check?.(fstatSync(file));
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError(`${path} cannot be read (${code}).`, {
      exit: exitCodes.failed,
      next: 'Run as the user who started the daemon, or set GATEWAY_KEY.',
      cause: error,
    });
  }
}
