import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import { type DaemonFile, dataFiles, foldersOf } from '../../shared/folders.ts';
import { type ProcessStat, readProcessStat } from '../../shared/process-stat.ts';
import { CliError } from '../failures/cli-error.ts';
import type { Surroundings } from './hosts.ts';

/** The running local daemon, by the file that it wrote; undefined when there is none or its process is gone. */
export function readDaemonFile(surroundings: Surroundings): DaemonFile | undefined {
  const path = join(foldersOf(surroundings).data, dataFiles.daemon);
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const file = JSON.parse(text) as DaemonFile;
    return typeof file.url === 'string' && isOfOwner(path, file) ? file : undefined;
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
    return statOf(pid)?.hasEnded !== true;
  } catch (error) {
    // A process of another user is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What the system tells of a process; undefined where it is not Linux, or there is none. */
function statOf(pid: number): ProcessStat | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readProcessStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Whether the process that a file names is the one that wrote it, as far as can be told. Another one has the number of a
 * daemon that is gone, as in a container that was started again, and somebody else may have its port: they get no key.
 */
function isOfOwner(path: string, { pid, start_ticks: startTicks }: DaemonFile): boolean {
  try {
    process.kill(pid, 0);
    const stat = statOf(pid);
    if (stat?.hasEnded || (stat && startTicks && stat.startTicks !== startTicks)) return false;
    // Root may signal everybody, and only Linux tells it whose a process is.
    if (process.getuid?.() !== 0) return isOwnOrRoots(statSync(path).uid);
    const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? 0;
    return owner === 0 || owner === statSync(path).uid;
  } catch {
    return false;
  }
}

/** The socket of the local daemon, which nobody else can take as they could its port; not one that was removed. */
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
    throw new CliError(`${path} cannot be read (${code}).`, {
      exit: exitCodes.failed,
      next: 'Run as the user who started the daemon, or set GATEWAY_KEY.',
      cause: error,
    });
  }
}
