import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);

/** Runs the built program with an empty home folder and an empty temporary folder. */
async function program() {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-compile-cache-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [home, temporary] = [join(folder, 'home'), join(folder, 'temporary')];
  await mkdir(home);
  await mkdir(temporary);
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: temporary };
  const start = (more: Record<string, string> = {}) =>
    run(process.execPath, ['bin/gateway.js', '--version'], { env: { ...env, ...more } });
  return { folder, home, temporary, start };
}

test.skipIf(process.platform === 'win32')(
  'compiled code is cached where only its user can write',
  async () => {
    const { home, temporary, start } = await program();
    await start();
    const cache = join(home, '.cache', 'gateway');
    expect((await stat(cache)).mode & 0o777).toBe(0o700);
    expect(await readdir(cache)).toHaveLength(1);
    expect(await readdir(temporary)).toEqual([]);
  },
);

test.skipIf(process.platform === 'win32')('a cache that others can write to is not used', async () => {
  const { folder, start } = await program();
  const cache = join(folder, 'caches', 'gateway');
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o777);
  await start({ XDG_CACHE_HOME: join(folder, 'caches') });
  expect(await readdir(cache)).toEqual([]);
});

test.skipIf(process.platform === 'win32')('a home folder that does not exist is not created', async () => {
  const { home, start } = await program();
  await rm(home, { recursive: true });
  expect((await start()).stdout).toMatch(/^\d+\.\d+\.\d+/);
  await expect(stat(home)).rejects.toThrow('ENOENT');
});
