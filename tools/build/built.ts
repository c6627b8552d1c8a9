import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

const stamp = 'build/built';

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`)
    .sort();
}

/** Another text after a change of what is built, of what builds it, or of a file that was built. */
function state(): string {
  const hash = createHash('sha256').update(process.version);
  const installed = ['package.json', 'tsconfig.json', 'node_modules/.package-lock.json'];
  for (const path of [...installed, ...filesOf('src'), ...filesOf('tools/build')])
    hash.update(`\0${path}\0`).update(existsSync(path) ? readFileSync(path) : '');
  for (const path of filesOf('dist')) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`\0${path}\0${size} ${mtimeMs}`);
  }
  return hash.digest('hex');
}

/** Whether a build would write what is there. */
export function isBuilt(): boolean {
  return existsSync('dist') && existsSync(stamp) && readFileSync(stamp, 'utf8') === state();
}

/** To be called after a build. */
export function noteBuild(): void {
  mkdirSync('build', { recursive: true });
  writeFileSync(stamp, state());
}
