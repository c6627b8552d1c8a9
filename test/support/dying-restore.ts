/** Restores `argv[2]` into `argv[3]` and kills itself before the `argv[4]`th rename or removal of a file or folder. */
import fs from 'node:fs';
import { enableCompileCache, flushCompileCache, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, 'compile-cache'));
const [, , backup = '', home = '', step = '0'] = process.argv;
let left = Number(step);
for (const name of ['renameSync', 'rmSync', 'mkdirSync', 'writeFileSync'] as const) {
  const real = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      return real(...args);
    },
  });
}
syncBuiltinESMExports();
const { restore } = await import('../../src/daemon/process/restore.ts');
// Node writes its cache at the exit, which most of these processes do not reach.
flushCompileCache();
const outcome = await restore({
  backup,
  dataFolder: home,
  env: { GATEWAY_HOME: home },
  onProgress: () => {},
});
if ('problem' in outcome) {
  process.stderr.write(`${outcome.problem}\n`);
  process.exitCode = 1;
}
