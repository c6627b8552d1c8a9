import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import { type DaemonFile, dataFiles, type Environment, foldersOf, inodeOf } from '../../shared/folders.ts';
import { type ProcessStat, readProcessStat } from '../../shared/text/process-stat.ts';
import { CliError } from '../failures/cli-error.ts';

/** Reads the file that the running local daemon wrote; undefined when there is none or its process is gone. */
export function readDaemonFile(environment: Environment): DaemonFile | undefined {
  const folder = foldersOf(environment).data;
  const path = join(folder, dataFiles.daemon);
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const file = JSON.parse(text) as DaemonFile;
    const isMeant = typeof file.url === 'string' && isOfOwner(path, file) && !isCopy(folder, file);
    return isMeant ? file : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the folder was copied from that of a daemon that runs: commands for the copy must not change the original. A daemon in a
 * container has another name for its folder, which is not there, or is another folder, and on some systems another inode.
 */
function isCopy(folder: string, { data_dir: original, data_inode: inode }: DaemonFile): boolean {
  try {
    const own = statSync(folder);
    return inodeOf(own) !== inode && inodeOf(own) !== inodeOf(statSync(original));
  } catch {
    return false;
  }
}

/** Reads a secret from the data folder; undefined if missing. Throws if other users can read it or have created it. */
export function readSecret(environment: Environment, name: string): string | undefined {
  const path = join(foldersOf(environment).data, name);
  return readText(path, (stats) => checkIsPrivate(path, stats))?.trim() || undefined;
}

function checkIsPrivate(path: string, { mode, uid }: Stats): void {
  if (process.platform === 'win32') return;
  const refused = (what: string, next: string) =>
    new CliError(`${path} ${what}.`, { exit: exitCodes.failed, next });
  if ((mode & 0o077) !== 0) throw refused('can be read by other users', `Run: chmod 600 ${path}`);
  if (!isOwnOrRoots(uid))
    throw refused('belongs to another user', 'Set GATEWAY_HOME to a folder of your own.');
}

/** A file that root made is trusted; one that another user left there may be a trap. */
function isOwnOrRoots(uid: number): boolean {
  const own = process.getuid?.();
  return own === undefined || own === 0 || uid === own || uid === 0;
}

/** Whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return statOf(pid)?.hasEnded !== true;
  } catch (error) {
    // A process of another user is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What Linux reports about a process; undefined if there is none, or on another system. */
function statOf(pid: number): ProcessStat | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readProcessStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Whether the process that a file names is the one that wrote it, as far as can be known. After a crash or a container
 * restart another process may have the daemon's pid, and a third one its port, which must not get the key.
 */
function isOfOwner(path: string, { pid, start_ticks: startTicks }: DaemonFile): boolean {
  try {
    process.kill(pid, 0);
    const stat = statOf(pid);
    if (stat?.hasEnded || (stat && startTicks && stat.startTicks !== startTicks)) return false;
    // Root may signal every process, and only Linux shows who owns one.
    if (process.getuid?.() !== 0) return isOwnOrRoots(statSync(path).uid);
    const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? 0;
    return owner === 0 || owner === statSync(path).uid;
  } catch {
    return false;
  }
}

/** The local daemon's socket, if it still exists. Unlike its port, another user cannot take it over. */
export function socketOf(local: DaemonFile | undefined): string | undefined {
  const path = local?.socket ?? undefined;
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isSocket() ? path : undefined;
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
    throw new CliError(`Cannot read ${path} (${code}).`, {
      exit: exitCodes.failed,
      next: 'Run as the user who started the daemon, or set GATEWAY_KEY.',
      cause: error,
    });
  }
}
