import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type RolldownPluginOption } from 'rolldown';
import { drizzle } from '../../tools/build/bundle-drizzle.ts';
import { eventually } from './eventually.ts';

/** The threads of a daemon, by the names under which it starts them. */
export const threads = {
  'writer-worker': 'src/daemon/storage/sqlite/writer-worker.ts',
  'reader-worker': 'src/daemon/storage/sqlite/reader-worker.ts',
  'server-worker': 'src/daemon/storage/postgres/server-worker.ts',
  'postgres-writer': 'src/daemon/storage/postgres/postgres-writer.ts',
  'postgres-reader': 'src/daemon/storage/postgres/postgres-reader.ts',
  'postgres-stores': 'src/daemon/storage/postgres/postgres-stores.ts',
  'postgres-backup': 'src/daemon/storage/postgres/postgres-backup.ts',
  'call-worker': 'src/daemon/workers/call-worker.ts',
  'content-worker': 'src/daemon/storage/content/content-worker.ts',
};

/** Packages that are installed with Gateway or find files beside themselves, and those that others import only if installed. */
const external = [
  /^(better-sqlite3|@pydantic\/genai-prices|keytar|jq-wasm)(\/|$)/,
  ...['react-devtools-core', 'pg-native', 'pg-cloudflare'],
];

/**
 * Bundles scripts with the packages that they import, each into a file with its name, and returns the folder. From source, a
 * script is hundreds of files, which take several times as long to load. The processes of a test run make a bundle once for all
 * of them; elsewhere it is removed when this process exits. Each file begins with the banner.
 */
export async function bundle(
  input: Record<string, string>,
  plugins: RolldownPluginOption[] = [],
  banner = '',
): Promise<string> {
  const ofRun = process.env.GATEWAY_TEST_BUNDLES;
  if (!ofRun) {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-programs-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    await write(folder, input, plugins, banner);
    return folder;
  }
  const folder = join(ofRun, nameOf(input, banner));
  const mark = join(folder, 'complete');
  const isFirst = await mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  if (isFirst) {
    await write(folder, input, plugins, banner);
    await writeFile(mark, '');
  } else await eventually('another process has made the bundle', () => existsSync(mark), { everyMs: 20 });
  return folder;
}

/** Another one after each change of a file, as in a run that watches them. */
function nameOf(input: Record<string, string>, banner: string): string {
  const files = ['src', 'test/support', 'test/storage'].flatMap((root) =>
    readdirSync(root, { recursive: true }).map((name) => join(root, String(name))),
  );
  const changes = [...files, ...Object.values(input)].map((file) => statSync(file).mtimeMs);
  return createHash('sha256')
    .update(JSON.stringify([input, banner, changes.length, Math.max(...changes)]))
    .digest('hex');
}

async function write(
  folder: string,
  input: Record<string, string>,
  plugins: RolldownPluginOption[],
  banner: string,
): Promise<void> {
  // External packages, and files that the daemon reads beside its own, are found from there.
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  // Node would otherwise parse each script once more, to find out that it is a module.
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await cp('src/daemon/http/pages', folder, { recursive: true });
  await build({
    input,
    platform: 'node',
    external,
    plugins: [drizzle, ...plugins],
    output: { dir: folder, format: 'esm', entryFileNames: '[name].js', banner },
    logLevel: 'silent',
  });
}
