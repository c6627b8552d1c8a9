import { rmSync } from 'node:fs';
import { cp, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type RolldownPluginOption } from 'rolldown';
import { drizzle } from '../../bundle-drizzle.ts';

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
 * Bundles scripts with the packages that they import, each into a file with its name, and returns the folder, which is removed
 * when this process exits. From source, a script is hundreds of files, which take several times as long to load.
 */
export async function bundle(
  input: Record<string, string>,
  plugins: RolldownPluginOption[] = [],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-programs-'));
  // Vitest ends its processes with this signal, which has no `exit` of its own.
  process.once('SIGTERM', () => process.exit());
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
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
    output: { dir: folder, format: 'esm', entryFileNames: '[name].js' },
    logLevel: 'silent',
  });
  return folder;
}
