import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The processors that each process is held to; undefined where they cannot be held. */
export interface Cores {
  gateway: string | undefined;
  /** The provider and the clients, and this process. */
  others: string | undefined;
}

/** The gateway gets a core for itself, as it would not have to share one with its clients in life. */
export function chooseCores(): Cores {
  const hasTaskset = answers('taskset', ['--version']);
  if (!hasTaskset || availableParallelism() < 2) return { gateway: undefined, others: undefined };
  return { gateway: '0', others: '1' };
}

function answers(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs a script with this Node, held to a core. taskset gives way to Node, so the process id is Node's own. */
export function startNode(script: string, core: string | undefined, args: string[], options: SpawnOptions) {
  const command = [process.execPath, script, ...args];
  const [file = '', ...rest] = core === undefined ? command : ['taskset', '-c', core, ...command];
  return spawn(file, rest, options);
}

export function isGone(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Asks the process to end, and ends it after 10 s. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (isGone(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = new AbortController();
  const killed = sleep(10_000, undefined, { signal: patience.signal })
    .then(() => child.kill('SIGKILL'))
    .catch(() => undefined);
  await gone;
  patience.abort();
  await killed;
}

/** CPU seconds used by a process and its threads; to a hundredth where threads are not counted to the nanosecond, NaN if unknown. */
export function cpuSeconds(pid: number | undefined): number {
  const exact = threadSeconds(pid);
  if (exact !== undefined) return exact;
  // The name of the program stands in brackets and may hold spaces; utime and stime are the 14th and 15th field.
  const fields = readText(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  if (fields) return (Number(fields[11]) + Number(fields[12])) / 100;
  const parts = psField('time', pid)?.split(':').map(Number);
  return parts?.reduce((sum, part) => sum * 60 + part, 0) ?? Number.NaN;
}

/** CPU seconds of the threads that are running. */
function threadSeconds(pid: number | undefined): number | undefined {
  const seconds = Object.values(cpuSecondsByThread(pid));
  return seconds.length === 0 ? undefined : seconds.reduce((sum, one) => sum + one);
}

/** Kinds of threads: the main one, V8's own, which compile and collect garbage, and those that the programs start. */
export type ThreadKind = 'main' | 'V8' | 'writer' | 'content' | 'others';

/** CPU seconds of the threads that are running, by kind; none where threads are not counted to the nanosecond. */
export function cpuSecondsByThread(pid: number | undefined): Partial<Record<ThreadKind, number>> {
  const seconds: Partial<Record<ThreadKind, number>> = {};
  for (const thread of threadsOf(pid)) {
    const folder = `/proc/${pid}/task/${thread}`;
    const used = readText(`${folder}/schedstat`)?.split(' ')[0];
    if (used === undefined) continue;
    const kind = thread === String(pid) ? 'main' : kindOf(readText(`${folder}/comm`) ?? '');
    seconds[kind] = (seconds[kind] ?? 0) + Number(used) / 1e9;
  }
  return seconds;
}

function threadsOf(pid: number | undefined): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** By the first 15 characters of a thread's name, which are all that Linux keeps. */
function kindOf(name: string): ThreadKind {
  if (name.startsWith('V8') || name.startsWith('DelayedTask')) return 'V8';
  if (name.includes('-writer')) return 'writer';
  if (name.includes('-content')) return 'content';
  return 'others';
}

/** Resident memory in MB (1,000,000 bytes); NaN if unknown. */
export function residentMb(pid: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1] ?? psField('rss', pid);
  return kib === undefined ? Number.NaN : (Number(kib) * 1024) / 1e6;
}

/** CPU seconds used by the whole machine; NaN if unknown. */
export function machineCpuSeconds(): number {
  const fields = /^cpu +(.*)$/m
    .exec(readText('/proc/stat') ?? '')?.[1]
    ?.split(' ')
    .map(Number);
  if (!fields) return Number.NaN;
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = fields;
  return (user + nice + system + interrupts + softInterrupts + stolen) / 100;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function psField(field: string, pid: number | undefined): string | undefined {
  if (process.platform === 'win32' || pid === undefined) return undefined;
  try {
    return (
      execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}
