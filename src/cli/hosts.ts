import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../shared/errors.ts';
import { type DaemonFile, dataFiles, foldersOf } from '../shared/folders.ts';
import { CliError } from './cli-error.ts';

/** A daemon that commands can speak to. */
export interface Host {
  url: string;
  token: string | undefined;
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

/** `--host`, else GATEWAY_HOST, else the local daemon; the key is GATEWAY_KEY, else the local daemon's own login key. */
export function findHost(flag: string | undefined, surroundings: Surroundings): Host {
  const { env } = surroundings;
  const named = flag ?? (env.GATEWAY_HOST || undefined);
  const local = readDaemonFile(surroundings);
  if (named === undefined && local === undefined) throw notRunning();
  const url = named === undefined ? (local as DaemonFile).url : hostUrl(named);
  const isLocal = local !== undefined && sameOrigin(url, local.url);
  // The login key opens everything on this machine: it is sent to the daemon that wrote it and to nobody else.
  const token = env.GATEWAY_KEY || (isLocal ? readSecret(surroundings, dataFiles.login) : undefined);
  return { url, token, isLocal };
}

/** The running local daemon, by the file that it wrote; undefined when there is none or its process is gone. */
export function readDaemonFile(surroundings: Surroundings): DaemonFile | undefined {
  const text = readText(join(foldersOf(surroundings).data, dataFiles.daemon));
  if (text === undefined) return undefined;
  try {
    const file = JSON.parse(text) as DaemonFile;
    return typeof file.url === 'string' && isAlive(file.pid) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** A secret of the data folder; undefined when it is not there. */
export function readSecret(surroundings: Surroundings, name: string): string | undefined {
  return readText(join(foldersOf(surroundings).data, name))?.trim() || undefined;
}

/** Whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** `127.0.0.1:4100`, `gateway.example.org` or a whole URL; a name without a scheme is spoken to over TLS unless it is this machine. */
export function hostUrl(name: string): string {
  const wrong = new CliError(`"${name}" is not the address of a host.`, {
    exit: exitCodes.usage,
    next: 'Write it like http://127.0.0.1:4100 or https://gateway.example.org',
  });
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

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function sameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError(`${path} cannot be read (${code}).`, {
      exit: exitCodes.failed,
      next: 'Run as the user who started the daemon, or set GATEWAY_KEY.',
      cause: error,
    });
  }
}
