import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';
import { isBuilt } from '../../tools/build/built.ts';
import { bundle, threads } from './bundle.ts';

interface Programs {
  /** `serve-child.ts`: the daemon, for a child process. */
  daemon: string;
  /** `cli-program.ts`: the CLI, with its TUI and the daemon. */
  cli: string;
  /** `dying-restore.ts`: kills itself while it restores a backup. */
  dyingRestore: string;
  /** `copying-child.ts`: copies a database. */
  copying: string;
}

let bundled: Promise<Programs> | undefined;

/**
 * Bundles the programs that tests run in child processes. Daemon and CLI are those of the build, which start faster, unless a source
 * has changed since. Node does not run the source files that hold components.
 */
export function programs(): Promise<Programs> {
  bundled ??= bundlePrograms();
  return bundled;
}

/** The daemon with its threads and processes. */
export const daemonScripts = {
  'serve-child': 'test/support/serve-child.ts',
  ...threads,
  'keychain-child': 'src/keychain/keychain-child.ts',
  'model-child': 'src/daemon/upstream/engine/model-child.ts',
};

async function bundlePrograms(): Promise<Programs> {
  const { 'serve-child': daemon, ...ofDaemon } = daemonScripts;
  const scripts = {
    'serve-child': daemon,
    'cli-program': 'test/support/cli-program.ts',
    'dying-restore': 'test/support/dying-restore.ts',
    'copying-child': 'test/support/copying-child.ts',
  };
  const folder = isBuilt()
    ? await bundle(scripts, [contracts, fromBuild])
    : await bundle({ ...scripts, ...ofDaemon }, [contracts]);
  return {
    daemon: join(folder, 'serve-child.js'),
    cli: join(folder, 'cli-program.js'),
    dyingRestore: join(folder, 'dying-restore.js'),
    copying: join(folder, 'copying-child.js'),
  };
}

/** The files of the build, by their sources. */
const built = new Map(
  [
    ['src/cli/main.ts', 'dist/cli.js'],
    ['src/daemon/main.ts', 'dist/daemon.js'],
  ].map(([source = '', file = '']) => [resolve(source), pathToFileURL(file).href]),
);

const fromBuild: Plugin = {
  name: 'from-build',
  resolveId(id, importer) {
    const file = importer && built.get(resolve(dirname(importer), id));
    return file ? { id: file, external: 'absolute' } : null;
  },
};

/** Lists the contracts as imports in `endpoints.ts`, which finds them in their folder. */
export const contracts: Plugin = {
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
