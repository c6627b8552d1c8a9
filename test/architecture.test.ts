import { execFile } from 'node:child_process';
import { glob, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cruise, type IReporterOutput } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

interface Module {
  source: string;
  dependencies: { resolved: string }[];
}

interface Findings {
  totalCruised: number;
  violations: Violation[];
  modules: Module[];
}

/** Checks every import in src against `tools/lint/imports.json`. */
async function findViolations(): Promise<Findings> {
  const { options, forbidden } = JSON.parse(await readFile('tools/lint/imports.json', 'utf8'));
  const { output }: IReporterOutput = await cruise(
    ['src'],
    { ...options, ruleSet: { forbidden }, validate: true },
    undefined,
    { tsConfig: extractTSConfig('tsconfig.json') },
  );
  const { summary, modules } = output as unknown as {
    summary: Pick<Findings, 'totalCruised' | 'violations'>;
    modules: Module[];
  };
  return { ...summary, modules };
}

/** Every folder that the modules are in, directly or deeper. */
function foldersOf(modules: readonly Module[]): string[] {
  const folders = new Set<string>();
  for (const { source } of modules) {
    for (let folder = dirname(source); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].filter((folder) => /^src(\/|$)/.test(folder));
}

/** The parts of a folder, folders and files, that each reach the other through imports, types included. */
function partsInCircles(modules: readonly Module[], room: string): string[] {
  const partOf = (path: string) =>
    path.startsWith(`${room}/`) ? path.slice(room.length + 1).split('/')[0] : undefined;
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = partOf(source);
    if (from === undefined) continue;
    const known = imports.get(from) ?? new Set();
    imports.set(from, known);
    for (const { resolved } of dependencies) {
      const to = partOf(resolved);
      if (to !== undefined && to !== from) known.add(to);
    }
  }
  const reachedFrom = (start: string) => {
    const reached = new Set<string>();
    const open = [start];
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      for (const next of imports.get(part) ?? []) {
        if (reached.has(next)) continue;
        reached.add(next);
        open.push(next);
      }
    }
    return reached;
  };
  return [...imports.keys()].filter((part) => reachedFrom(part).has(part)).sort();
}

const planted: string[] = [];

// A run that was killed leaves its files.
beforeAll(async () => {
  for await (const path of glob(['src/**/planted-*.ts', 'test/daemon/planted-*.ts'])) await rm(path);
});

async function plant(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  planted.push(path);
}

afterEach(async () => {
  for (const path of planted.splice(0)) await rm(path);
});

/** For each rule a file that would break it: its folder, and what it imports. */
const offences: Record<string, [path: string, imported: string]> = {
  'shared-imports-only-itself': ['src/shared', '../cli/io.ts'],
  'shared-does-no-io': ['src/shared', 'node:fs'],
  'shared-uses-only-typebox': ['src/shared', 'ajv'],
  'diff-only-in-the-comparison': ['src/shared', 'diff'],
  'cli-does-not-import-daemon': ['src/cli', '../daemon/base/world.ts'],
  'daemon-does-not-import-cli': ['src/daemon', '../cli/io.ts'],
  'keychain-imports-neither-program': ['src/keychain', '../daemon/base/world.ts'],
  'keychain-through-its-index': ['src/cli', '../keychain/protocol.ts'],
  'keytar-only-in-its-process': ['src/keychain', 'keytar'],
  'features-do-not-import-adapters': ['src/daemon/features/keys', '../../http/server.ts'],
  'features-through-their-index': ['src/daemon/features/keys', '../events/event-feed.ts'],
  'features-do-no-io': ['src/daemon/features/keys', 'node:timers/promises'],
  'adapters-import-feature-types-only': ['src/daemon/storage', '../features/events/event-feed.ts'],
  'http-does-not-import-features': ['src/daemon/http', '../features/events/index.ts'],
  'process-does-not-import-app': ['src/daemon/process', '../wiring/accounts.ts'],
  'fastify-only-in-http': ['src/daemon/features/keys', 'fastify'],
  'view-imports-only-shared': ['src/view', '../cli/io.ts'],
  'only-clients-import-view': ['src/daemon', '../view/numbers.ts'],
  'web-imports-only-view-and-shared': ['src/web', '../daemon/base/world.ts'],
  'web-imports-contracts-as-types': ['src/web', '../shared/contract/traces.ts'],
  'web-uses-few-libraries': ['src/web', 'node:util'],
  'nothing-imports-web': ['src/daemon/http', '../../web/data/route.ts'],
  'preact-only-in-web': ['src/cli', 'preact'],
  'ink-only-in-tui': ['src/cli', 'ink'],
  'sql-only-in-storage': ['src/daemon/features/keys', 'better-sqlite3'],
  'pg-only-in-its-thread': ['src/daemon/storage/postgres', 'pg'],
  'undici-only-in-network': ['src/cli', 'undici'],
  'mcp-library-only-in-its-feature': ['src/daemon', '@modelcontextprotocol/server'],
  'mcp-library-loads-on-demand': ['src/daemon/features/mcp', './serve.ts'],
  'no-cycles': ['src/shared', './planted-no-cycles.ts'],
  'no-development-packages': ['src/cli', 'fast-check'],
  'no-test-imports': ['src/cli', '../../test/support/eventually.ts'],
};

test('imports follow every rule of tools/lint/imports.json, and every rule finds a planted violation', async () => {
  for (const [rule, [folder, imported]] of Object.entries(offences)) {
    // Circles are forbidden for types, too.
    const statement = rule === 'no-cycles' ? 'import type {} from' : 'import';
    await plant(`${folder}/planted-${rule}.ts`, `${statement} '${imported}';\n`);
  }
  await plant(
    'src/daemon/storage/sqlite/engine/planted-circle.ts',
    `import type {} from '../tokens/store.ts';\n`,
  );
  await plant('src/cli/output/planted-circle.ts', `import type {} from '../context.ts';\n`);
  const { totalCruised, violations, modules } = await findViolations();
  expect(partsInCircles(modules, 'src/daemon/storage/sqlite')).toEqual(['engine', 'tokens']);
  expect(partsInCircles(modules, 'src/cli')).toEqual(['context.ts', 'output']);
  const ours = modules.filter(({ source }) => !source.includes('/planted-'));
  const knots = foldersOf(ours).map((folder) => [folder, ...partsInCircles(ours, folder)]);
  expect(knots.filter(([_folder, ...parts]) => parts.length > 0)).toEqual([]);
  expect(totalCruised).toBeGreaterThan(100);
  const isPlanted = ({ from }: Violation) => from.includes('/planted-');
  const textOf = ({ rule, from, to }: Violation) => `${rule.name}: ${from} → ${to}`;
  expect(violations.filter((it) => !isPlanted(it)).map(textOf)).toEqual([]);

  const { forbidden } = JSON.parse(await readFile('tools/lint/imports.json', 'utf8')) as {
    forbidden: { name: string }[];
  };
  const found = violations
    .filter(isPlanted)
    .filter(({ rule, from }) => from.endsWith(`/planted-${rule.name}.ts`))
    .map(({ rule }) => rule.name);
  expect(new Set(found)).toEqual(new Set(forbidden.map(({ name }) => name)));
});

async function* sources(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && /\.tsx?$/.test(entry.name)) yield join(entry.parentPath, entry.name);
  }
}

test('signals are watched with whenAborted, whose cost does not grow with their listeners', async () => {
  const found: string[] = [];
  for await (const path of sources('src')) {
    if (path.endsWith('/when-aborted.ts')) continue;
    if (/EventListener\(\s*'abort'/.test(await readFile(path, 'utf8'))) found.push(path);
  }
  expect(found).toEqual([]);
});

test('features get randomness from World only', async () => {
  const random = /Math\.random|getRandomValues|import[^;]*random(UUID|Int|Bytes|Fill)[^;]*'node:crypto'/;
  const found: string[] = [];
  for await (const path of sources('src/daemon/features')) {
    if (random.test(await readFile(path, 'utf8'))) found.push(path);
  }
  expect(found).toEqual([]);
});

test('no test replaces modules: those that another test of the process loaded would stay', async () => {
  const found: string[] = [];
  for await (const path of sources('test')) {
    if (/\bvi\.(mock|doMock)\(/.test(await readFile(path, 'utf8'))) found.push(path);
  }
  expect(found).toEqual([]);
});

test('lint rejects the global clock, timers, network, process and console in features', async () => {
  const names = [
    'Date',
    'performance',
    'fetch',
    'process',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'console',
  ];
  const text = names.map((name) => `export const ${name}Of = () => ${name};\n`).join('');
  await plant('src/daemon/features/keys/planted-globals.ts', text);
  const { stdout } = await run('node_modules/.bin/biome', ['lint', '--reporter=github', ...planted]).catch(
    (failure: { stdout: string }) => failure,
  );
  for (const name of names) expect(stdout).toContain(`the global variable ${name}.`);
});

test('lint rejects tests that compare how long something takes', async () => {
  const lines = [
    'export const read = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];',
    'export const times = [process.hrtime(), process.hrtime.bigint()];',
    'const start = Date.now();',
    'export const took = Date.now() - start;',
    'export const isLate = () => Date.now() > start + 5;',
    'expect(start - Date.now()).toBe(1);',
    'expect(start).toBeLessThan(Date.now());',
  ];
  const allowed = ['export const hourAgo = Date.now() - 3_600_000;', 'expect(hourAgo).toBeLessThan(start);'];
  const text = [`import { expect } from 'vitest';`, ...lines, ...allowed].join('\n');
  await plant('test/daemon/planted-times.ts', text);
  const { stdout } = await run('node_modules/.bin/biome', ['lint', '--reporter=github', ...planted]).catch(
    (failure: { stdout: string }) => failure,
  );
  const found = [...stdout.matchAll(/line=(\d+),.*depends on the machine/g)].map(([, line]) => Number(line));
  expect(found.sort((a, b) => a - b)).toEqual([2, 2, 2, 3, 3, 5, 6, 7, 8]);
});

test('lint rejects what counts as zero where money is read', async () => {
  const lines = [
    'const read = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);',
    'export const amount = read(1) ?? 0;',
    'export const fee = read(1) || 0;',
    'export const sum = 5 + (read(1) ?? 0) * 1000;',
    'export const large = undefined ?? 0n;',
    'export const allowed = [read(1) ?? null, read(1) || null, read(1) ?? 10];',
  ];
  await plant('src/daemon/upstream/lightning/planted-amounts.ts', lines.join('\n'));
  await plant('src/daemon/features/wallet/planted-amounts.ts', 'export const fee = Number("") || 0;');
  const { stdout } = await run('node_modules/.bin/biome', ['lint', '--reporter=github', ...planted]).catch(
    (failure: { stdout: string }) => failure,
  );
  const found = [...stdout.matchAll(/line=(\d+),.*where money is read/g)].map(([, line]) => Number(line));
  expect(found.sort((x, y) => x - y)).toEqual([1, 2, 3, 4, 5]);
});

test('TypeBox is used only where lint checks the names of records', async () => {
  const { plugins } = JSON.parse(await readFile('biome.json', 'utf8')) as {
    plugins: { path: string; includes: string[] }[];
  };
  const checked = plugins.find(({ path }) => path === './tools/lint/record-names.grit')?.includes ?? [];
  const folders = checked.map((pattern) => pattern.replace(/^\*\*\/(.*)\*\*$/, '$1'));
  const unchecked: string[] = [];
  for await (const path of glob('src/**/*.{ts,tsx}')) {
    if (folders.some((folder) => path.startsWith(folder))) continue;
    if (/ from 'typebox';/.test(await readFile(path, 'utf8'))) unchecked.push(path);
  }
  expect(unchecked).toEqual([]);
});

/** The packages that the build bundles, as a pattern of their folders. */
async function bundledPackages(): Promise<string> {
  const { forbidden } = JSON.parse(await readFile('tools/lint/imports.json', 'utf8')) as {
    forbidden: { name: string; to: { pathNot?: string } }[];
  };
  return forbidden.find(({ name }) => name === 'no-development-packages')?.to.pathNot ?? '';
}

test('the decision record explains every library', async () => {
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const bundled =
    /\((.*)\)/
      .exec(await bundledPackages())?.[1]
      ?.replace('[^/]+', 'api')
      .split('|') ?? [];
  expect(bundled.length).toBeGreaterThan(10);
  const page = await readFile('docs/decisions/2026-11-21-libraries.md', 'utf8');
  expect([...Object.keys(dependencies), ...bundled].filter((name) => !page.includes(name))).toEqual([]);
});

test('npm ci installs only what the program is built of; what tests need is in test/package.json', async () => {
  const { devDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const bundled = new RegExp(await bundledPackages());
  const others = Object.keys(devDependencies).filter((name) => !bundled.test(`node_modules/${name}/`));
  expect(others).toEqual(['rolldown']);
});

describe('the map in docs/architecture.md', () => {
  const page = () => readFile('docs/architecture.md', 'utf8');

  test('lists every folder of the daemon and every feature', async () => {
    const [, tree = ''] = /## The tree\s+```\n(.*?)```/s.exec(await page()) ?? [];
    const features = await readdir('src/daemon/features');
    const folders = (await readdir('src/daemon', { withFileTypes: true })).filter((it) => it.isDirectory());
    const missing = [...features, ...folders.map(({ name }) => name)].filter(
      (name) => !tree.includes(`${name}/`),
    );
    expect(missing, 'missing from the tree').toEqual([]);
  });

  test('names functions of a streamed call that exist where it says', async () => {
    const walk: Record<string, string[]> = {
      'http/request-lifecycle': ['startRequest', 'acceptRequest'],
      'http/endpoint-route': ['createAccessCheck'],
      'features/idempotency/idempotency': ['once'],
      'features/inference/lifecycles/request/read-request': ['readRequest'],
      'features/calls/answer-call': ['relayStream'],
      'features/calls/streamed-call': ['streamCall'],
      'features/calls/admit': ['admit'],
      'features/calls/start-call': ['startCall', 'withHold'],
      'features/routing/open-route': ['openRoute'],
      'upstream/http-upstream': ['open'],
      'http/event-stream': ['writeEventStream'],
      'features/calls/meter': ['settle', 'count'],
      'features/inference/lifecycles/request/response-session': ['keep'],
      'features/inference/formats/responses/stream': ['ResponsesStream', 'batch', 'finish'],
    };
    const [, section = ''] = /## One streamed call(.*?)\n- /s.exec(await page()) ?? [];
    for (const [file, names] of Object.entries(walk)) {
      const code = await readFile(`src/daemon/${file}.ts`, 'utf8');
      for (const name of names) {
        expect(section, file).toMatch(new RegExp(`\\b${name}\\b`));
        expect(code, `${name} in ${file}`).toMatch(
          new RegExp(`(function\\*?|class|async|#|^)\\s*${name}\\b`, 'm'),
        );
      }
    }
  });
});

describe('the house grows by decision only', () => {
  test('the root, the daemon and the shared code have few loose files', async () => {
    const ignored = [...(await readFile('.gitignore', 'utf8')).matchAll(/^([\w.-]+)\/$/gm)].map(
      ([, name]) => name,
    );
    const root = (await readdir('.')).filter((name) => name !== '.git' && !ignored.includes(name));
    const looseIn = async (folder: string) =>
      (await readdir(folder, { withFileTypes: true })).filter(
        (entry) => entry.isFile() && !entry.name.startsWith('planted-'),
      );
    expect(root.length).toBeLessThanOrEqual(16);
    expect((await looseIn('src/daemon')).length).toBeLessThanOrEqual(4);
    expect((await looseIn('src/shared')).length).toBeLessThanOrEqual(12);
  });

  const linesOf = async (files: string) => {
    let lines = 0;
    for await (const path of glob(files, { exclude: ['**/planted-*'] }))
      lines += (await readFile(path, 'utf8')).split('\n').length - 1;
    return lines;
  };

  test('what connects features stays small', async () => {
    expect(await linesOf('src/daemon/app.ts')).toBeLessThanOrEqual(150);
    expect(await linesOf('src/daemon/wiring/*.ts')).toBeLessThanOrEqual(2_300);
  });

  test('an endpoint takes no more lines than it did', async () => {
    const lines = await linesOf('src/**/*.{ts,tsx,css,html,js}');
    const endpoints = (await readFile('src/shared/endpoints.ts', 'utf8')).match(/^export const /gm) ?? [];
    expect(Math.round(lines / endpoints.length)).toBeLessThanOrEqual(885);
  });
});

test('the version in the code is the one in package.json', async () => {
  const { version } = await import('../src/shared/version.ts');
  const { version: published } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(version).toBe(published);
});
