import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programs } from './programs.ts';
import type { RunResult } from './run-cli.ts';

interface ChildOptions {
  env: Record<string, string>;
  stdin?: string;
  /** Whether its input may end, by what it has printed; at once by default. */
  isServed?: (stdout: string) => boolean;
}

/** Runs one command line in a child process, with only the given environment. */
export async function runCliChild(
  args: string[],
  { env, stdin = '', isServed = () => true }: ChildOptions,
): Promise<RunResult> {
  const { cli } = await programs();
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text;
    if (isServed(out.stdout)) child.stdin.end();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.write(stdin);
  if (isServed(out.stdout)) child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, ...out };
}
