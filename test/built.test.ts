import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);

test('a build is up to date until a source, a tool, a package or a built file changes', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'gateway-built-'));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  const changes = [
    ['src/a.ts', 'changed'],
    ['src/new.ts', ''],
    ['tools/build/bundle.js', 'changed'],
    ['node_modules/.package-lock.json', 'changed'],
    ['dist/cli.js', 'longer than before'],
    ['dist/new.js', ''],
  ] as const;
  for (const folder of ['src', 'tools/build', 'node_modules', 'dist'])
    mkdirSync(join(clone, folder), { recursive: true });
  for (const path of ['src/a.ts', 'tools/build/bundle.js', 'dist/cli.js'])
    writeFileSync(join(clone, path), '');
  const script = `
    const { isBuilt, noteBuild } = await import(${JSON.stringify(pathToFileURL('tools/build/built.ts').href)});
    const { rmSync, writeFileSync } = await import('node:fs');
    const found = [isBuilt()];
    for (const [path, text] of ${JSON.stringify(changes)}) {
      noteBuild();
      found.push(isBuilt());
      writeFileSync(path, text);
      found.push(isBuilt());
    }
    noteBuild();
    rmSync('dist', { recursive: true });
    found.push(isBuilt());
    console.log(JSON.stringify(found));`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, { cwd: clone });
  expect(JSON.parse(stdout)).toEqual([false, ...changes.flatMap(() => [true, false]), false]);
});
