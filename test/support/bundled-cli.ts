import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';

/**
 * Bundles the CLI to run in a child process: Node runs TypeScript sources, but not the files
 * that hold components.
 */
export async function bundleCli(): Promise<{ program: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bundle-'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const entry = join(folder, 'entry.ts');
  const main = JSON.stringify(resolve('src/cli/main.ts'));
  await writeFile(
    entry,
    `import { main } from ${main};\nawait main({ serve: () => Promise.reject(new Error('no daemon here')) });\n`,
  );
  await build({
    input: entry,
    platform: 'node',
    // Packages are found through the link.
    external: [/^[@\w]/],
    output: { dir: join(folder, 'out'), format: 'esm', entryFileNames: '[name].js' },
    logLevel: 'silent',
  });
  return {
    program: join(folder, 'out', 'entry.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
