import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../shared/errors.ts';
import type { Context } from './context.ts';
import { daemonEnvironment } from './daemon-environment.ts';
import { CliError } from './failures/cli-error.ts';
import { readDaemonFile } from './hosts/local-daemon.ts';

const startLimitMs = 30_000;
const pollMs = 50;

/** Starts this machine's daemon in the background, where it outlives the terminal, and waits until it listens. */
export async function startDaemon(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-start-'));
  const printed = join(folder, 'printed');
  try {
    const output = openSync(printed, 'wx', 0o600);
    const daemon = spawn(process.execPath, [process.argv[1] ?? '', 'serve'], {
      detached: true,
      stdio: ['ignore', output, output],
      // It also outlives npm, for which it watches where npm runs it.
      env: { ...daemonEnvironment, ...context.env, npm_config_user_agent: undefined },
    });
    closeSync(output);
    let hasEnded = false;
    for (const event of ['exit', 'error']) daemon.once(event, () => (hasEnded = true));
    daemon.unref();
    const until = context.now() + startLimitMs;
    while (readDaemonFile(context) === undefined) {
      if (hasEnded || context.now() >= until) throw notStarted(readFileSync(printed, 'utf8'));
      await context.sleep(pollMs);
    }
    context.forgetHost();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function notStarted(printed: string): CliError {
  return new CliError(`The daemon did not start.\n${printed.trimEnd()}`, {
    exit: exitCodes.tryLater,
    next: 'Start it in this terminal to see what it does: gateway serve',
  });
}
