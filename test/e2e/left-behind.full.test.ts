import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { programs } from '../support/programs.ts';
import { startDaemon } from '../support/start-daemon.ts';

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Reads a file once it is there and has a number. */
async function numberIn(file: string): Promise<number> {
  let number = 0;
  await eventually(`${file} has a number`, async () => {
    number = existsSync(file) ? Number((await readFile(file, 'utf8')).trim()) : 0;
    return number > 0;
  });
  return number;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-left-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function missingTerminal(): string | undefined {
  try {
    for (const name of ['script', 'setsid']) execFileSync(name, ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'script and setsid of util-linux are not installed';
  }
}

const noTerminal = missingTerminal();
if (noTerminal) process.stderr.write(`skipping the tests of a hang-up: ${noTerminal}\n`);

describe.skipIf(noTerminal !== undefined)('a terminal that is gone, and whose SIGHUP reaches nobody', () => {
  test.each(['tui', 'tail'])(
    'ends `gateway %s` (vfarcic/dot-agent-deck#1138, anthropics/claude-code#20596)',
    async (command) => {
      const daemon = await startDaemon();
      onTestFinished(async () => void (await daemon.stop()));
      const folder = await newFolder();
      const { cli } = await programs();
      // Another session has no controlling terminal, so no signal comes.
      const line = `setsid -w sh -c 'echo $$ > ${folder}/pid; exec ${process.execPath} ${cli} ${command}'`;
      const terminal = spawn('script', ['-qfec', line, '/dev/null'], {
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { ...process.env, GATEWAY_HOME: daemon.home, TERM: 'xterm' },
      });
      onTestFinished(() => void terminal.kill('SIGKILL'));
      const pid = await numberIn(join(folder, 'pid'));
      onTestFinished(() => void (isRunning(pid) && process.kill(pid, 'SIGKILL')));
      let hasPrinted = false;
      terminal.stdout?.once('data', () => {
        hasPrinted = true;
      });
      await eventually('it shows something', async () => {
        // `tail` prints calls.
        await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello' } });
        return hasPrinted;
      });
      terminal.kill('SIGKILL');
      await eventually('it ends', async () => !isRunning(pid));
    },
  );
});

describe('the daemon, when the program that started it is killed', () => {
  /** Starts a daemon through another program. */
  async function startThrough(stdin: 'pipe' | 'ignore', env: Record<string, string>) {
    const home = await newFolder();
    const { cli } = await programs();
    const wrapper = join(home, 'wrapper.mjs');
    await writeFile(
      wrapper,
      `import { spawn } from 'node:child_process';
       spawn(process.execPath, [${JSON.stringify(cli)}, 'serve'], { stdio: ['${stdin}', 'ignore', 'ignore'] });`,
    );
    await writeFile(join(home, 'config.yaml'), 'local_servers: false\nlisten: {port: 0}\n');
    const { npm_config_user_agent: _agent, ...rest } = process.env;
    const parent: ChildProcess = spawn(process.execPath, [wrapper], {
      stdio: 'ignore',
      env: { ...rest, GATEWAY_HOME: home, GATEWAY_PAYWALLS_PORT: '0', ...env },
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    let pid = 0;
    await eventually('the daemon listens', async () => {
      const text = await readFile(join(home, 'daemon.json'), 'utf8').catch(() => '{}');
      pid = Number(JSON.parse(text).pid ?? 0);
      return pid > 0;
    });
    onTestFinished(async () => {
      if (!isRunning(pid)) return;
      process.kill(pid, 'SIGKILL');
      await eventually('it is gone', async () => !isRunning(pid));
    });
    return { parent, pid };
  }

  test.each([
    ['npm (npm/cli#6684, anomalyco/opencode#20899)', 'ignore', { npm_config_user_agent: 'npm/11.0.0' }],
    ['another one, with whose end its standard input is closed', 'pipe', {}],
  ] as const)('ends: %s', async (_name, stdin, env) => {
    const { parent, pid } = await startThrough(stdin, env);
    parent.kill('SIGKILL');
    await eventually('it ends', async () => !isRunning(pid));
  });
});
