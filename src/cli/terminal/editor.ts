import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';

/**
 * Lets the user change a text with `$VISUAL`, else `$EDITOR`, in a file that only they can read and that is deleted at the end.
 * Resolves to the text as it was saved.
 */
export async function editText(context: Context, name: string, text: string): Promise<string> {
  const { env, platform } = context;
  const editor = env.VISUAL || env.EDITOR || (platform === 'win32' ? 'notepad' : 'vi');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-edit-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    const code = await run(editor, path, env);
    if (code !== 0)
      throw new CliError(`The editor ended with ${code}: ${editor}`, {
        exit: exitCodes.failed,
        next: 'Set VISUAL or EDITOR to another one.',
      });
    return readFileSync(path, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** By a shell, as the setting may have arguments: `code --wait`. */
function run(editor: string, path: string, env: Context['env']): Promise<number> {
  return new Promise((resolve, reject) => {
    const ignore = () => {};
    // In an editor, Ctrl-C is a key.
    process.on('SIGINT', ignore);
    const child =
      process.platform === 'win32'
        ? spawn(`${editor} "${path}"`, { shell: true, stdio: 'inherit', env })
        : spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit', env });
    child.once('error', (error) => {
      process.off('SIGINT', ignore);
      reject(error);
    });
    child.once('close', (code) => {
      process.off('SIGINT', ignore);
      resolve(code ?? 1);
    });
  });
}
