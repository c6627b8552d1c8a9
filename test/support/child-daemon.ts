import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { addEmptyDatabase } from './new-database.ts';
import { programs } from './programs.ts';

export interface ChildDaemon {
  pid: number;
  url: string;
  key: string;
  login: string;
  home: string;
  printed(): { stdout: string; stderr: string };
  /** Puts its clock forward: what it waits for is then due. Resolves when that has happened. */
  advance(ms: number): Promise<void>;
  /** Has its main thread loop for ever. */
  hang(): void;
  /** How many steps it took so far, if its bundle counts them. */
  steps(): Promise<number>;
  /** Sends a signal without waiting. */
  signal(name: NodeJS.Signals): void;
  /** Resolves to the exit code, or to the signal that killed it. */
  ended: Promise<number | NodeJS.Signals>;
  /** Kills it if it still runs, and removes its folder. Rejects if it streamed an event that breaks its schema, or had a fault. */
  remove(): Promise<void>;
}

export interface ChildOptions {
  /** Text of config.yaml; an existing folder keeps its own. */
  config?: string;
  /** A folder of an earlier run. */
  home?: string;
  env?: Record<string, string>;
  /** How many files and connections it may have open. */
  openFilesMax?: number;
  /** Another bundle of `serve-child.ts`. */
  script?: string;
}

/** Starts the whole daemon in a child process; resolves once it is ready. */
export async function startChildDaemon(options: ChildOptions = {}): Promise<ChildDaemon> {
  const { config, home: kept, env, openFilesMax } = options;
  const home = kept ?? (await mkdtemp(join(tmpdir(), 'gateway-child-')));
  if (kept === undefined && !env?.GATEWAY_STORAGE_URL) addEmptyDatabase(home);
  const violations = join(home, 'stream-violations');
  // A busy machine delays the daemon's event loop, too.
  const calm = /^shed_load:/m.test(config ?? '') ? '' : 'shed_load: false\n';
  if (config !== undefined)
    await writeFile(join(home, 'config.yaml'), `${calm}local_servers: false\n${config}`);
  const script = options.script ?? (await programs()).daemon;
  const limited = ['-c', `ulimit -n ${openFilesMax} && exec "$0" "$1"`, process.execPath, script];
  const [command, ...args] = openFilesMax ? ['sh', ...limited] : [process.execPath, script];
  // With a channel for messages, the types no longer say that there are pipes.
  const child = spawn(command, args, {
    env: {
      PATH: process.env.PATH ?? '',
      GATEWAY_HOME: home,
      GATEWAY_PAYWALLS_PORT: '0',
      STREAM_VIOLATIONS: violations,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcess & { stdout: Readable; stderr: Readable };
  // Only the output of the daemon keeps the test's process alive.
  child.channel?.unref();
  const out = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text;
  });
  const ready = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text;
    ready.resolve();
  });
  const ended = endOf(child);
  ended.then((how) => ready.reject(new Error(`the daemon ended with ${how}: ${out.stderr}`)));
  await ready.promise;
  const ask = async (message: object | string): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(message);
    return (await answered)[0];
  };
  const read = async (name: string) => (await readFile(join(home, name), 'utf8')).trim();
  const { url } = JSON.parse(await read('daemon.json')) as { url: string };
  return {
    pid: child.pid ?? 0,
    url,
    key: await read('default-key'),
    login: await read('login-key'),
    home,
    printed: () => out,
    advance: async (ms) => {
      await Promise.race([ask({ advanceMs: ms }), ended]);
    },
    steps: async () => (await ask('steps')) as number,
    hang: () => void child.send('hang'),
    signal: (name) => child.kill(name),
    ended,
    async remove() {
      child.kill('SIGKILL');
      await ended;
      const found = await readFile(violations, 'utf8').catch(() => '');
      await rm(home, { recursive: true, force: true });
      if (found !== '') throw new Error(`events that break their schemas:\n${found}`);
      const faults = out.stderr.split('\n').filter((line) => line.includes('an unexpected fault'));
      if (faults.length > 0) throw new Error(`faults that nothing handled:\n${faults.join('\n')}`);
    },
  };
}

async function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return code ?? signal ?? -1;
}
