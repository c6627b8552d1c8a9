import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createContext } from '../../src/cli/context.ts';
import { commandIndex } from '../../src/cli/manifest/command-index.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { DaemonModule } from '../../src/shared/daemon-module.ts';

export interface RunOptions {
  env?: Record<string, string>;
  /** What is piped in; left out, the standard input is a terminal that nobody types at. */
  stdin?: string | Uint8Array;
  /** What a person types, a line each, when the standard input is a terminal. */
  typed?: string[];
  /** Which ends are terminals; none unless told. */
  tty?: boolean | { stdout?: boolean; stderr?: boolean };
  columns?: number;
  /** Milliseconds since 1970; the real time unless told. */
  now?: () => number;
  /** Aborting it is Ctrl-C. */
  interrupt?: AbortSignal;
  /** Told of each piece of output as it is written. */
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
  serve?: DaemonModule['serve'];
  restore?: DaemonModule['restore'];
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
  const write = (name: 'stdout' | 'stderr', told?: (text: string) => void) => (text: string) => {
    result[name] += text;
    told?.(text);
  };
  const context = createContext({
    io: {
      stdout: { write: write('stdout', options.onStdout), isTty: isTty.stdout },
      stderr: { write: write('stderr', options.onStderr), isTty: isTty.stderr },
      stdin: {
        isTty: stdin === undefined,
        read: async () => encoded(stdin ?? ''),
        readLine: async () => typed.shift(),
        readHidden: async () => typed.shift(),
        async *lines() {
          yield* stdin === undefined ? typed : new TextDecoder().decode(encoded(stdin)).split('\n');
        },
      },
      columns: () => options.columns ?? 80,
    },
    env: options.env ?? {},
    platform: process.platform,
    home: options.env?.GATEWAY_HOME ?? '/nonexistent',
    commands: commandIndex,
    now: options.now ?? Date.now,
    sleep: (ms, signal) => shortly(Math.min(ms, 5), signal),
    interrupted: () => options.interrupt ?? new AbortController().signal,
    serve: async () => ({
      serve: options.serve ?? (async () => 0),
      restore: options.restore ?? (async () => ({ problem: 'not here', exit: 1 })),
      loadConfigTools:
        options.loadConfigTools ??
        (async () => (await import('../../src/daemon/config/tools.ts')).configTools),
    }),
  });
  result.code = await runProgram(args, context);
  return result;
}

const encoded = (text: string | Uint8Array) =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text;

/** A data folder of its own for one test. */
export async function temporaryHome(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

// Waits of the program are cut short: the tests are about what happens after them.
function shortly(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => resolve());
  });
}
