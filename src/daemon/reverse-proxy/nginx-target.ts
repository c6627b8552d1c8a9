import { execFile } from 'node:child_process';
import { rename, rm, writeFile } from 'node:fs/promises';
import { childEnvironment } from '../../shared/masking/child-environment.ts';
import { FileUnreadable, readNamedFile } from '../runtime/read-named-file.ts';
import { nginxWorkers, workersReplaced } from './nginx-workers.ts';

/** A running nginx that includes a file. */
export interface NginxOptions {
  /** The file to write; nginx includes it in a `server` block. */
  file: string;
  /** How nginx is called, without `-t` and `-s reload`. */
  command: readonly string[];
}

const timeoutMs = 4_000;

/** Keeps the included file up to date. A file that nginx rejects is taken back, and nginx goes on as it was. */
export function nginxTarget({ file, command }: NginxOptions) {
  /** The text with which nginx was last reloaded by this process. */
  let loaded: string | undefined;
  return async (text: string): Promise<void> => {
    const before = await textOf(file);
    if (before === text && loaded === text) return;
    if (before !== text) await replace(file, text);
    const reload = async (expected: string) => {
      loaded = undefined;
      const workers = await nginxWorkers(command, timeoutMs);
      await run([...command, '-s', 'reload']);
      await workersReplaced(workers, timeoutMs);
      loaded = expected;
    };
    try {
      await run([...command, '-t']);
    } catch (error) {
      if (before === undefined) await rm(file);
      else if (before !== text) {
        await replace(file, before);
        // nginx reads the file some time after the signal: the last reload may have met the rejected text.
        await reload(before).catch(() => {});
      }
      throw error;
    }
    await reload(text);
  };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readNamedFile(file, { bytesMax: 16 * 1024 ** 2 })).toString();
  } catch (error) {
    if (error instanceof FileUnreadable && error.isAbsent) return undefined;
    throw error;
  }
}

/** Writes a new file and renames it, so that nginx never reads half of it. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  await writeFile(next, text, { mode: 0o644 });
  await rename(next, file);
}

function run([program = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { timeout: timeoutMs, env: childEnvironment(process.env) },
      (error, _stdout, stderr) => {
        if (!error) return resolve();
        const reason =
          stderr
            .trim()
            .split('\n')
            .find((line) => line.includes('[emerg]')) ?? stderr.trim().split('\n').at(-1);
        reject(new Error(`${[program, ...args].join(' ')} failed: ${reason || error.message}`.slice(0, 500)));
      },
    );
  });
}
