import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

// nodejs/node#57045, kaeawc/auto-mobile#2560, oven-sh/bun#34843: shells and jobs delete the folder in which a daemon was started.
test.skipIf(process.platform === 'win32')('a thread starts in a folder that was deleted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-thread-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const gone = join(folder, 'gone');
  await mkdir(gone);
  await writeFile(
    join(folder, 'hello.js'),
    "require('node:worker_threads').parentPort.postMessage(process.cwd());",
  );
  const script = `
    import { rmdirSync } from 'node:fs';
    import { startScript } from ${JSON.stringify(import.meta.resolve('../../../src/daemon/worker-threads/start-script.ts'))};
    const [, gone, module] = process.argv;
    rmdirSync(gone);
    startScript('hello', module, {}).on('message', (text) => console.log(text));`;
  const args = ['--input-type=module', '-e', script, gone, pathToFileURL(join(folder, 'module.js')).href];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: gone });
  expect(stdout).toBe('/\n');
});
