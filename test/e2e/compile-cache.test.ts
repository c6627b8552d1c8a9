import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';

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

test.skipIf(process.platform === 'win32')(
  'a start uses all code that the one before has cached',
  async () => {
    const { home } = await program();
    const data = join(home, 'data');
    const cache = join(home, '.cache', 'gateway');
    const startAndStop = async () => {
      const env = { PATH: process.env.PATH, HOME: home, GATEWAY_HOME: data };
      const daemon = spawn(process.execPath, ['bin/gateway.js', 'serve', '--port', '0'], {
        env,
        stdio: 'ignore',
      });
      onTestFinished(() => void daemon.kill('SIGKILL'));
      await eventually('the daemon', () => existsSync(join(data, 'daemon.json')));
      daemon.kill('SIGTERM');
      await once(daemon, 'exit');
    };
    const written = async () => {
      const names = await readdir(cache, { recursive: true });
      const files = await Promise.all(
        names.map(async (name) => [name, await stat(join(cache, name))] as const),
      );
      return Object.fromEntries(
        files.filter(([, it]) => it.isFile()).map(([name, it]) => [name, it.mtimeMs]),
      );
    };
    await startAndStop();
    const before = await written();
    expect(Object.keys(before).filter((name) => name.includes('gateway-daemon-main'))).toHaveLength(1);
    await startAndStop();
    // Code that V8 rejects, such as that of other options, is replaced.
    expect(await written()).toMatchObject(before);
  },
);
