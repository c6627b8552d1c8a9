import { spawnSync } from 'node:child_process';

export const isWindows = process.platform === 'win32';

/** Runs a program, and exits with its code if it fails. */
export function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: isWindows && command === 'npm' });
  if (status !== 0) process.exit(status || 1);
}
