import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { programs } from '../support/programs.ts';

const { cli } = await programs();

/** `--version` is answered before anything else is loaded. */
const printing = ['help exit-codes', '--version', '--help', 'models --help'];

/** Prints something to a standard output that the caller made, or to a pipe, which may have no reader. */
async function print(
  line: string,
  { stdout = 'pipe', leaves }: { stdout?: number | 'pipe'; leaves?: 'stdout' | 'stderr' },
) {
  const child = spawn(process.execPath, [cli, ...line.split(' ')], {
    stdio: ['ignore', stdout, 'pipe'],
  });
  if (leaves) child[leaves]?.destroy();
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

test.each(printing)('a closed pipe ends %s silently', async (line) => {
  expect(await print(line, { leaves: 'stdout' })).toEqual({ code: 0, stderr: '' });
});

test.skipIf(process.platform !== 'linux').each(printing)('%s reports a full disk', async (line) => {
  const full = openSync('/dev/full', 'w');
  const printed = await print(line, { stdout: full });
  closeSync(full);
  expect(printed).toEqual({ code: 1, stderr: 'error: Cannot write the output (ENOSPC).\n' });
});

test('a command that fails says so by its exit code, although no one reads its errors', async () => {
  expect(await print('nosuch', { leaves: 'stderr' })).toEqual({ code: 2, stderr: '' });
});
