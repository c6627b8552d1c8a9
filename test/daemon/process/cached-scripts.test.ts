import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCachedScripts } from '../../../src/daemon/process/cached-scripts.ts';

/** A program of two scripts, and an empty folder for their compiled code. */
async function program() {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-scripts-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [file, cache] = [join(folder, 'main.cjs'), join(folder, 'cache')];
  await mkdir(cache);
  await writeFile(
    file,
    `const { basename } = require('node:path');
const part = require('./part.cjs');
exports.greet = () => part.greeting + ' from ' + basename(__filename) + ' in ' + basename(__dirname);`,
  );
  await writeFile(join(folder, 'part.cjs'), "exports.greeting = 'hello';");
  const greet = () => {
    const { exports, save } = runCachedScripts(file, cache);
    return { greeting: (exports as { greet(): string }).greet(), save };
  };
  return { folder, file, cache, greet };
}

test('scripts run, and their compiled code is stored once', async () => {
  const { cache, greet } = await program();
  const first = greet();
  expect(first.greeting).toMatch(/^hello from main\.cjs in gateway-scripts-/);
  first.save();
  const stored = await readdir(cache);
  expect(stored.map((name) => name.replace(/-[\da-f]+$/, '')).sort()).toEqual([
    'gateway-main.cjs',
    'gateway-part.cjs',
  ]);
  for (const name of stored) await rm(join(cache, name));
  await writeFile(join(cache, 'other'), '');
  first.save();
  expect(await readdir(cache)).toEqual(['other']);
});

test('a script that has changed is not run from older code', async () => {
  const { folder, greet } = await program();
  greet().save();
  await writeFile(join(folder, 'part.cjs'), "exports.greeting = 'howdy';");
  expect(greet().greeting).toMatch(/^howdy/);
});

test.each([
  ['damaged', (bytes: Buffer) => bytes.fill(0xff, bytes.length >> 1)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, 3)],
])('code that is %s is compiled and stored again', async (_name, spoil) => {
  const { cache, greet } = await program();
  greet().save();
  const [name] = (await readdir(cache)).sort() as [string];
  const spoilt = spoil(await readFile(join(cache, name)));
  await writeFile(join(cache, name), spoilt);
  const second = greet();
  expect(second.greeting).toMatch(/^hello/);
  second.save();
  expect((await readFile(join(cache, name))).equals(spoilt)).toBe(false);
});

test('scripts run where nothing can be stored', async () => {
  const { folder, file, cache, greet } = await program();
  await rm(cache, { recursive: true });
  const { greeting, save } = greet();
  expect(greeting).toMatch(/^hello/);
  save();
  runCachedScripts(file, undefined).save();
  expect((await readdir(folder)).sort()).toEqual(['main.cjs', 'part.cjs']);
});
