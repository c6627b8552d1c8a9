import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface PackedFile {
  path: string;
  /** In bytes. */
  size: number;
}

export interface InstalledPackage {
  /** The program. */
  bin: string;
  files: PackedFile[];
  /** In bytes: what is downloaded. */
  packedSize: number;
  remove(): Promise<void>;
}

/**
 * What `npm pack` makes of the last build, unpacked beside the dependencies that package.json names and no others: as after an
 * installation with install scripts blocked, but without a registry.
 */
export async function installPackage(): Promise<InstalledPackage> {
  const root = await mkdtemp(join(tmpdir(), 'gateway-installed-'));
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', root];
  const { stdout } = await run('npm', packing, { shell: process.platform === 'win32' });
  const [packed] = JSON.parse(stdout) as { filename: string; size: number; files: PackedFile[] }[];
  if (!packed) throw new Error('npm pack made nothing');
  await run('tar', ['-xzf', join(root, packed.filename), '-C', root]);
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    const link = join(root, 'package', 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(resolve('node_modules', name), link, 'junction');
  }
  return {
    bin: join(root, 'package', 'bin', 'gateway.js'),
    files: packed.files,
    packedSize: packed.size,
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
