import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createContext } from '../../src/cli/context.ts';
import { commandIndex } from '../../src/cli/manifest/command-index.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { DaemonModule } from '../../src/shared/daemon-module.ts';
import { exitCodes } from '../../src/shared/errors.ts';
import { eventually } from './eventually.ts';

export interface RunOptions {
  env?: Record<string, string>;
  /** What is piped in; without it, standard input is a terminal without input. */
  stdin?: string | Uint8Array;
  /** Lines typed at the terminal. */
  typed?: string[];
  /** Which streams are terminals; none by default. */
  tty?: boolean | { stdout?: boolean; stderr?: boolean };
  columns?: number;
  /** Milliseconds since 1970; the real time by default. */
  now?: () => number;
  /** Aborting it is Ctrl-C. */
  interrupt?: AbortSignal;
  /** Called with each piece of output as it is written. */
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
  /** Default: that of this machine. */
  platform?: NodeJS.Platform;
  serve?: DaemonModule['serve'];
  restore?: DaemonModule['restore'];
  copyStorage?: DaemonModule['copyStorage'];
  loadConfigTools?: DaemonModule['loadConfigTools'];
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs one command line in this process, as the program would, with streams that are read back. */
export async function runCli(args: string[], options: RunOptions = {}): Promise<RunResult> {
  const result: RunResult = { code: -1, stdout: '', stderr: '' };
  const { typed = [], tty = false, stdin } = options;
  const isTty = { stdout: tty === true, stderr: tty === true, ...(typeof tty === 'object' && tty) };
  const write =
    (name: 'stdout' | 'stderr', answer?: (text: string) => void) => (data: string | Uint8Array) => {
      const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
      result[name] += text;
      answer?.(text);
    };
  const streams = {
    stdout: { write: write('stdout', options.onStdout), isTty: isTty.stdout },
    stderr: { write: write('stderr', options.onStderr), isTty: isTty.stderr },
  };
  const context = createContext({
    io: {
      ...streams,
      lasting: () => ({ ...streams, close: async () => {} }),
      stdin: {
        isTty: stdin === undefined,
        read: async () => encoded(stdin ?? ''),
        readLine: async ({ prompt }) => {
          streams.stderr.write(prompt);
          return typed.shift();
        },
        readHidden: async (prompt) => {
          streams.stderr.write(`${prompt}\n`);
          return typed.shift();
        },
        async *lines() {
          yield* stdin === undefined ? typed : new TextDecoder().decode(encoded(stdin)).split('\n');
        },
      },
      columns: () => options.columns ?? 80,
      rows: () => 24,
    },
    env: options.env ?? {},
    platform: options.platform ?? process.platform,
    home: options.env?.GATEWAY_HOME ?? '/nonexistent',
    commands: commandIndex,
    now: options.now ?? Date.now,
    sleep: (ms, signal) => shortly(Math.min(ms, 5), signal),
    interrupted: () => options.interrupt ?? new AbortController().signal,
    serve: async () => ({
      serve: options.serve ?? (async () => 0),
      restore: options.restore ?? (async () => ({ problem: 'not here', exit: 1 })),
      copyStorage: options.copyStorage ?? (async () => ({ problem: 'not here', exit: 1 })),
      loadConfigTools:
        options.loadConfigTools ??
        (async () => (await import('../../src/daemon/wiring/config-tools.ts')).configTools),
    }),
  });
  result.code = await runProgram(args, context);
  return result;
}

const encoded = (text: string | Uint8Array) =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text;

/** A new data folder for one test. */
export async function temporaryHome(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

// Shortens the program's waits: tests check what happens after them.
function shortly(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => resolve());
  });
}

/**
 * Runs a command until its daemon is available. One that shares its database is not while it does not learn what others have
 * changed, as on a machine with much else to do.
 */
export function runWhenAvailable(args: string[], options: RunOptions = {}): Promise<RunResult> {
  return eventually(
    `the daemon is available for ${args[0]}`,
    async () => {
      const ran = await runCli(args, options);
      return ran.code !== exitCodes.tryLater && ran;
    },
    { everyMs: 100 },
  );
}
