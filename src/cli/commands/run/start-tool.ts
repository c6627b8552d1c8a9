import { spawn } from 'node:child_process';
import { accessSync, constants as fileModes, statSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ToolSettings } from './tools.ts';

type Environment = Record<string, string | undefined>;

/** The path of a program on the PATH; undefined if there is none. */
export function findProgram(name: string, { PATH = '' }: Environment): string | undefined {
  return PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, fileModes.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Signals that are for the tool. The terminal itself sends SIGINT and SIGQUIT to both, and the tool decides what they mean. */
const forwarded = ['SIGTERM', 'SIGHUP'] as const;
const fromTerminal = ['SIGINT', 'SIGQUIT'] as const;

/**
 * Runs a program on this terminal, with only the given environment, and `args` after those of the settings. Resolves
 * to its exit code, or 128 and the number of the signal that ended it, as shells do.
 */
export function startTool(
  path: string,
  settings: Pick<ToolSettings, 'args'>,
  { env, args }: { env: Environment; args: readonly string[] },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, [...(settings.args ?? []), ...args], {
      stdio: 'inherit',
      env,
    });
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    const ignore = () => {};
    for (const signal of forwarded) process.on(signal, forward);
    for (const signal of fromTerminal) process.on(signal, ignore);
    const release = () => {
      for (const signal of forwarded) process.off(signal, forward);
      for (const signal of fromTerminal) process.off(signal, ignore);
    };
    child.once('error', (error) => {
      release();
      reject(error);
    });
    child.once('close', (code, signal) => {
      release();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}
