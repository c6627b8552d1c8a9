import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('in a clone that is not built, the program says how to build it', async () => {
  const clone = await mkdtemp(join(tmpdir(), 'gateway-clone-'));
  await cp('bin', join(clone, 'bin'), { recursive: true });
  const script = join(clone, 'bin', 'gateway.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'models'], { encoding: 'utf8' });
  await rm(clone, { recursive: true });
  const said = 'Nothing is built here yet: npm run build\n';
  expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: said });
});

/** In place of the CLI: prints the address of the inspector, which opens within a few milliseconds. */
const cli = `
import inspector from 'node:inspector';
import { setTimeout } from 'node:timers/promises';
export async function main() {
  process.kill(process.pid, 'SIGUSR1');
  for (let turn = 0; turn < 50 && inspector.url() === undefined; turn += 1) await setTimeout(1);
  console.log(inspector.url());
}`;

test.skipIf(process.platform === 'win32')('SIGUSR1 does not open the inspector', async () => {
  const clone = await mkdtemp(join(tmpdir(), 'gateway-clone-'));
  await cp('bin', join(clone, 'bin'), { recursive: true });
  await mkdir(join(clone, 'dist'));
  await writeFile(join(clone, 'package.json'), '{"type":"module"}');
  await writeFile(join(clone, 'dist', 'cli.js'), cli);
  const script = join(clone, 'bin', 'gateway.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  await rm(clone, { recursive: true });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'undefined\n', stderr: '' });
});
