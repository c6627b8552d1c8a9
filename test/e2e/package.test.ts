import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type InstalledPackage, installPackage } from '../support/installed-package.ts';
import { missingTmux, startTmux } from '../support/tmux.ts';

const run = promisify(execFile);

let installed: InstalledPackage;
let home: string;
let url: string;
let ended: Promise<number | null>;

const gateway = (...args: string[]) =>
  run(process.execPath, [installed.bin, ...args], { env: { ...process.env, GATEWAY_HOME: home } });

/** The published program: packed from the build, started as a child process. */
beforeAll(async () => {
  installed = await installPackage();
  home = await mkdtemp(join(tmpdir(), 'gateway-package-'));
  const child = spawn(process.execPath, [installed.bin, 'serve', '--port', '0'], {
    env: { ...process.env, GATEWAY_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ended = new Promise((resolve) => child.on('exit', resolve));
  const banner = await new Promise<string>((resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString()));
  });
  url = /http:\/\/\S+/.exec(banner)?.[0] ?? '';
  // Packing and installing take minutes where much else runs.
}, 600_000);

afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await installed.remove();
});

/** The packages that an installation brings: path in the lock file, and entry. */
async function broughtPackages() {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: true; optional?: true; hasInstallScript?: true; link?: true }>;
  };
  return Object.entries(packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
  );
}

/** The size of a folder's own files, without the packages in it. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const own = paths.filter((path) => !path.slice(folder.length).includes('node_modules'));
  return (await Promise.all(own.map(async (path) => (await stat(path)).size))).reduce((a, b) => a + b, 0);
}

test.skipIf(process.platform === 'win32')('npx finds the command of the clone', async () => {
  expect(await realpath('node_modules/.bin/gateway')).toBe(await realpath('bin/gateway.js'));
});

// The clone has none where the machine's Node is new enough.
const ownNode = 'node_modules/.bin/node';
const missingNode = existsSync(ownNode)
  ? ''
  : " (skipped: the clone has no Node of its own; an old npm's Node installs it)";
test.skipIf(missingNode)(`an old Node hands over to the clone's own${missingNode}`, async () => {
  const disguise = join(home, 'old-node.cjs');
  const old = "{ ...process.versions, node: '20.20.2' }";
  await writeFile(disguise, `Object.defineProperty(process, 'versions', { value: ${old} });`);
  const asOld = (bin: string, ...args: string[]) => run(process.execPath, ['-r', disguise, bin, ...args]);
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  expect((await asOld('bin/gateway.js', '--version')).stdout).toBe(`${version}\n`);
  await expect(asOld('bin/gateway.js', 'nosuch')).rejects.toMatchObject({ code: 2 });
  // The daemon ends with the process that started it, even if that one is killed.
  const data = join(home, 'handed-over');
  const daemonFile = join(data, 'daemon.json');
  const env = { ...process.env, GATEWAY_HOME: data };
  const args = ['-r', disguise, 'bin/gateway.js', 'serve', '--port', '0'];
  const parent = spawn(process.execPath, args, { env, stdio: 'ignore' });
  await eventually('the daemon', () => existsSync(daemonFile));
  parent.kill('SIGKILL');
  await eventually('the end of the daemon', () => !existsSync(daemonFile));
  // An installed package has no Node of its own.
  await expect(asOld(installed.bin, '--version')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('gateway needs Node 22.19 or newer; this is Node 20.20.2.'),
  });
});

// The first npx in a clone makes npm set the clone up once more, which would delay the first start by a build.
test.skipIf(process.platform === 'win32')('npx does not rebuild what npm ci has built', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  const builtAt = async () => (await stat('dist/cli.js')).mtimeMs;
  const before = await builtAt();
  await run('sh', ['-c', scripts.dependencies], { env: { ...process.env, npm_command: 'exec' } });
  expect(await builtAt()).toBe(before);
});

describe('the package', () => {
  test('contains the program, its license and its documents, and nothing else', () => {
    const paths = installed.files.map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith('dist/')).sort()).toEqual([
      'LICENSE',
      'README.md',
      'bin/gateway.js',
      'docs/changelog.md',
      'package.json',
    ]);
    const dist = paths.filter((path) => path.startsWith('dist/'));
    const others = [
      /^pages\.css$/,
      /^config\.schema\.json$/,
      /^third-party-licenses\.txt$/,
      /^build\/jq\.wasm$/,
      /^web\/index\.html$/,
      /^web\/[a-z\d-]+-[\w-]{8}\.(js|css|svg)(\.(br|gz))?$/,
      /^prebuilds\/[a-z0-9]+-[a-z0-9]+\/keytar\.node$/,
    ];
    for (const path of dist.map((one) => one.slice('dist/'.length)))
      expect(/^[a-z\d-]+(-[\w-]{8})?\.c?js$/.test(path) || others.some((one) => one.test(path)), path).toBe(
        true,
      );
    for (const platform of ['darwin-arm64', 'linux-x64', 'win32-x64'])
      expect(dist).toContain(`dist/prebuilds/${platform}/keytar.node`);
    for (const name of [
      'cli',
      'daemon',
      'writer-worker',
      'reader-worker',
      'keychain-child',
      'reference-page',
      'login-page',
    ]) {
      expect(dist).toContain(`dist/${name}.js`);
    }
  });

  test('is as small as the README claims', async () => {
    const readme = await readFile('README.md', 'utf8');
    const [, sizeMax, countMax] = /less\s+than ([\d.]+) MB[^.]*fewer\s+than (\d+) others/s.exec(readme) ?? [];
    expect(installed.packedSize).toBeLessThan(Number(sizeMax) * 1e6);
    expect((await broughtPackages()).length).toBeLessThan(Number(countMax));
  });

  // npm warns about each of them when the package is installed globally.
  test('has no install script, and no dependency with one', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(scripts[name]).toBe(undefined);
    const brought = await broughtPackages();
    expect(brought.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  });

  test('takes less than 50 MB with its dependencies', async () => {
    const folders = (await broughtPackages()).filter(([, { optional }]) => !optional);
    const sizes = await Promise.all(folders.map(([path]) => sizeOf(path)));
    const own = installed.files.reduce((sum, { size }) => sum + size, 0);
    expect(sizes.reduce((sum, size) => sum + size, own)).toBeLessThan(50e6);
  });

  test('names the licenses of what is bundled', async () => {
    const text = await readFile('dist/third-party-licenses.txt', 'utf8');
    for (const name of ['ink', 'react', 'drizzle-orm', 'undici', 'zod', '@github/keytar', 'jq-wasm'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  test('states its license, its minimum Node version and its changes', async () => {
    const { version, engines } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(await readFile('docs/changelog.md', 'utf8')).toContain(`## ${version}`);
    expect(await readFile('LICENSE', 'utf8')).toMatch(/^MIT License/);
    // The program itself rejects an older Node.
    const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? [];
    expect(await readFile('bin/gateway.js', 'utf8')).toContain(
      `parts[0] === ${major} && parts[1] < ${minor}`,
    );
  });
});

describe('the built program', () => {
  test('reports its status', async () => {
    const { stdout } = await gateway('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ url, data_dir: home, pid: expect.any(Number) });
  });

  test('answers a model call', async () => {
    const { stdout } = await gateway('respond', '--no-stdin', '--model', 'sim/echo', 'as published');
    expect(stdout).toBe('as published\n');
  });

  test.each([
    ['responses', { model: 'sim/echo', input: 'Hello', temperature: 'high' }],
    [
      'chat/completions',
      { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello' }], temperature: 'high' },
    ],
  ])('names the field at fault in the body of a call of %s', async (path, body) => {
    const { stdout } = await gateway('keys', 'default');
    const headers = { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: 'temperature' } });
  });

  test('runs jq', async () => {
    expect((await gateway('status', '--jq', '.url')).stdout).toBe(`${url}\n`);
  });

  test('issues a key that works', async () => {
    const { stdout } = await gateway('keys', 'issue', '--name', 'test', '--quiet');
    const answer = await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${stdout.trim()}` } });
    expect(await answer.json()).toMatchObject({ name: 'test' });
  });

  test('knows prices', async () => {
    const { stdout } = await gateway('models', 'show', 'openai/gpt-5', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ service: { prices: { input: expect.any(String) } } });
  });

  test.each([
    ['--version', ['--version'], { files: 4, kilobytes: 10, builtins: 40 }],
    ['keys list --json', ['keys', 'list', '--json'], { files: 50, kilobytes: 300, builtins: 80 }],
  ])('%s loads little more than Node itself', async (_name, args, most) => {
    const [hook, list] = [join(home, 'loaded.cjs'), join(home, 'loaded.json')];
    await writeFile(
      hook,
      `const { registerHooks } = require('node:module');
       const { statSync, writeFileSync } = require('node:fs');
       const files = [];
       registerHooks({
         load(url, context, next) {
           if (url.startsWith('file:')) files.push(url);
           return next(url, context);
         },
       });
       process.on('exit', () => writeFileSync(${JSON.stringify(list)}, JSON.stringify({
         files: files.length,
         kilobytes: files.reduce((sum, url) => sum + statSync(new URL(url)).size, 0) / 1000,
         builtins: process.moduleLoadList.length,
       })));`,
    );
    const loaded = async (words: string[]) => {
      await run(process.execPath, ['-r', hook, ...words], { env: { ...process.env, GATEWAY_HOME: home } });
      return JSON.parse(await readFile(list, 'utf8')) as typeof most;
    };
    const bare = await loaded(['-e', '0']);
    const whole = await loaded([installed.bin, ...args]);
    expect(whole.files).toBeGreaterThan(1);
    expect(whole.files).toBeLessThanOrEqual(most.files);
    expect(whole.kilobytes).toBeLessThan(most.kilobytes);
    expect(whole.builtins - bare.builtins).toBeLessThan(most.builtins);
  });

  test.skipIf(missingTmux())(
    'alone on a terminal (skipped without tmux) starts the daemon if asked',
    async ({ onTestFinished }) => {
      const own = await mkdtemp(join(tmpdir(), 'gateway-alone-'));
      const env = { GATEWAY_HOME: own, GATEWAY_PORT: '0' };
      const command = `${process.execPath} ${installed.bin}`;
      const tmux = await startTmux({ columns: 90, rows: 24, env });
      onTestFinished(async () => {
        await run(process.execPath, [installed.bin, 'stop'], { env: { ...process.env, ...env } });
        await tmux.end();
        await rm(own, { recursive: true, force: true });
      });
      await tmux.text(command);
      await tmux.keys('Enter');
      await tmux.shows(/Start it in the background now\? \[y\/N\]/);
      await tmux.keys('y', 'Enter');
      await tmux.shows(/● live/);
    },
  );

  test('stops when asked, with exit code 0', async () => {
    await gateway('stop');
    expect(await ended).toBe(0);
  });
});
