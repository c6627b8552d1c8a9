import { readdirSync, rmSync } from 'node:fs';
import { cp, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'rolldown';

interface Programs {
  /** `serve-child.ts`: the daemon, for a child process. */
  daemon: string;
  /** `cli-program.ts`: the CLI, with its TUI and the daemon. */
  cli: string;
}

let bundled: Promise<Programs> | undefined;

/**
 * Bundles the programs that tests run in child processes, once per test process. From source, which is hundreds of files, a
 * child takes twice as long to start, and Node does not run the files that hold components.
 */
export function programs(): Promise<Programs> {
  bundled ??= bundlePrograms();
  return bundled;
}

async function bundlePrograms(): Promise<Programs> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-programs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Packages, and files that the daemon reads beside its own, are found from there.
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await cp('src/daemon/http/pages', folder, { recursive: true });
  await build({
    input: {
      'serve-child': 'test/support/serve-child.ts',
      'cli-program': 'test/support/cli-program.ts',
      'writer-worker': 'src/daemon/storage/sqlite/writer-worker.ts',
      'reader-worker': 'src/daemon/storage/sqlite/reader-worker.ts',
      'server-worker': 'src/daemon/storage/postgres/server-worker.ts',
      'postgres-writer': 'src/daemon/storage/postgres/postgres-writer.ts',
      'postgres-reader': 'src/daemon/storage/postgres/postgres-reader.ts',
      'postgres-stores': 'src/daemon/storage/postgres/postgres-stores.ts',
      'postgres-backup': 'src/daemon/storage/postgres/postgres-backup.ts',
      'call-worker': 'src/daemon/workers/call-worker.ts',
      'content-worker': 'src/daemon/storage/content/content-worker.ts',
      'keychain-child': 'src/keychain/keychain-child.ts',
      'model-child': 'src/daemon/upstream/engine/model-child.ts',
    },
    platform: 'node',
    external: [/^[@\w]/],
    plugins: [contracts],
    output: { dir: folder, format: 'esm', entryFileNames: '[name].js' },
    logLevel: 'silent',
  });
  return { daemon: join(folder, 'serve-child.js'), cli: join(folder, 'cli-program.js') };
}

/** Lists the contracts as imports in `endpoints.ts`, which finds them in their folder. */
const contracts: Plugin = {
  name: 'contracts',
  load(id) {
    if (!id.endsWith('/test/support/endpoints.ts')) return null;
    const names = readdirSync('src/shared/contract');
    const imports = names.map((name, at) => `import * as it${at} from '../../src/shared/contract/${name}';`);
    return `${imports.join('\n')}
const all = [${names.map((_, at) => `it${at}`).join(', ')}].flatMap((it) => Object.values(it));
export const endpoints = [...new Set(all.filter((it) => it?.path && it.method && it.result))];`;
  },
};
