import { spawn } from 'node:child_process';

interface RunOptions {
  /** What the command reads from its standard input. */
  input: string;
  env: Record<string, string | undefined>;
  /** Ends the command. */
  signal: AbortSignal;
}

/** Runs a command line of the user's in their shell, and resolves to its exit code. Its output goes where that of this process goes. */
export function runWithInput(command: string, { input, env, signal }: RunOptions): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const child = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env, signal });
  child.once('error', () => resolve(1));
  child.once('close', (code) => resolve(code ?? 1));
  // A command that does not read its input closes it.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return promise;
}
