import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
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
