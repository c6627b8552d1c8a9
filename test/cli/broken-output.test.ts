import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { programs } from '../support/programs.ts';

const { cli } = await programs();

/** Prints something to a standard output that the caller made, or to a pipe. */
async function print({ stdout, leaves = false }: { stdout: number | 'pipe'; leaves?: boolean }) {
  const child = spawn(process.execPath, [cli, 'help', 'exit-codes'], {
    stdio: ['ignore', stdout, 'pipe'],
  });
  if (leaves) child.stdout?.destroy();
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

test('a closed pipe ends the program silently', async () => {
  expect(await print({ stdout: 'pipe', leaves: true })).toEqual({ code: 0, stderr: '' });
});

test.skipIf(process.platform !== 'linux')('a full disk is reported in one sentence', async () => {
  const full = openSync('/dev/full', 'w');
  const printed = await print({ stdout: full });
  closeSync(full);
  expect(printed).toEqual({ code: 1, stderr: 'error: Cannot write the output (ENOSPC).\n' });
});
