import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment } from '../../shared/masking/child-environment.ts';

const pollMs = 20;
/** Without knowledge of the workers: nginx replaces them within about 0.1 s. */
const unknownMs = 500;

/** The worker processes of a running nginx; undefined where they cannot be found, as outside Linux or in a container. */
export async function nginxWorkers(
  command: readonly string[],
  timeoutMs: number,
): Promise<number[] | undefined> {
  try {
    const master = (await readFile(await pidFile(command, timeoutMs), 'utf8')).trim();
    if (!(await titleOf(master)).startsWith('nginx: master')) return undefined;
    const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8');
    return children
      .trim()
      .split(/\s+/)
      .filter((pid) => pid !== '')
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Waits after a reload until these workers accept no more connections. Fails if they still do after the timeout. */
export async function workersReplaced(workers: number[] | undefined, timeoutMs: number): Promise<void> {
  if (workers === undefined) return void (await sleep(unknownMs));
  const end = performance.now() + timeoutMs;
  for (const worker of workers) {
    // A worker changes its title right before it closes its listening sockets, and then finishes its last requests.
    while (/^nginx: worker process(?! is shutting down)/.test(await titleOf(worker))) {
      if (performance.now() > end) throw new Error(`nginx did not reload within ${timeoutMs / 1000} s`);
      await sleep(pollMs);
    }
  }
  await sleep(pollMs);
}

/** The title of a process; empty if there is none. */
async function titleOf(pid: number | string): Promise<string> {
  return await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
}

/** From the command line, the configuration or the defaults of the build. */
async function pidFile(command: readonly string[], timeoutMs: number): Promise<string> {
  const inCommand = /\bpid\s+([^;\s]+)/.exec(command.join(' '))?.[1];
  const build = await outputOf([...command, '-V'], timeoutMs);
  const prefix = /--prefix=(\S+)/.exec(build)?.[1] ?? '/';
  if (inCommand !== undefined) return resolve(prefix, inCommand);
  const inFile = /^[ \t]*pid[ \t]+"?([^\s";]+)"?[ \t]*;/m.exec(
    await outputOf([...command, '-T'], timeoutMs),
  )?.[1];
  return resolve(prefix, inFile ?? /--pid-path=(\S+)/.exec(build)?.[1] ?? 'logs/nginx.pid');
}

function outputOf([program = '', ...args]: readonly string[], timeout: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout, maxBuffer: 16 * 1024 * 1024, env: childEnvironment(process.env) };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error) reject(error);
      else resolve(`${stdout}\n${stderr}`);
    });
  });
}
