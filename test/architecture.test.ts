import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cruise, type IReporterOutput } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterEach, describe, expect, test } from 'vitest';

const run = promisify(execFile);

interface Cruised {
  summary: { totalCruised: number; violations: { rule: { name: string }; from: string; to: string }[] };
}

async function violations(): Promise<Cruised['summary']> {
  const rules = JSON.parse(await readFile('.dependency-cruiser.json', 'utf8'));
  const options = { ...rules.options, ruleSet: { forbidden: rules.forbidden }, validate: true };
  const result: IReporterOutput = await cruise(['src'], options, undefined, {
    tsConfig: extractTSConfig('tsconfig.json'),
  });
  return (result.output as unknown as Cruised).summary;
}

const planted: string[] = [];

async function plant(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  planted.push(path);
}

afterEach(async () => {
  for (const path of planted.splice(0)) await rm(path);
});

/** For each rule a file that breaks it: where it would lie, and what it imports. */
const offences: Record<string, [path: string, imported: string]> = {
  'shared-is-the-ground-floor': ['src/shared', '../cli/terminal/io.ts'],
  'shared-does-no-io': ['src/shared', 'node:fs'],
  'shared-needs-typebox-alone': ['src/shared', 'ajv'],
  'cli-and-daemon-meet-over-http': ['src/cli', '../daemon/world.ts'],
  'daemon-knows-no-cli': ['src/daemon', '../cli/terminal/io.ts'],
  'keychain-serves-both': ['src/keychain', '../daemon/world.ts'],
  'keychain-has-one-door': ['src/cli', '../keychain/protocol.ts'],
  'keytar-lives-in-its-process': ['src/keychain', 'keytar'],
  'features-see-no-edges': ['src/daemon/features/keys', '../../http/server.ts'],
  'features-use-front-doors': ['src/daemon/features/keys', '../events/event-feed.ts'],
  'features-take-it-from-world': ['src/daemon/features/keys', 'node:timers/promises'],
  'edges-serve-the-middle': ['src/daemon/storage', '../features/events/event-feed.ts'],
  'http-knows-no-feature': ['src/daemon/http', '../features/events/index.ts'],
  'fastify-lives-in-http': ['src/daemon/features/keys', 'fastify'],
  'ink-lives-in-tui': ['src/cli', 'ink'],
  'sql-lives-in-storage': ['src/daemon/features/keys', 'better-sqlite3'],
  'network-lives-in-upstream': ['src/cli', 'undici'],
  'mcp-speaks-in-its-room': ['src/daemon', '@modelcontextprotocol/server'],
  'mcp-is-loaded-late': ['src/daemon/features/mcp', './serve.ts'],
  'no-cycles': ['src/shared', './planted-no-cycles.ts'],
  'no-development-packages-in-production': ['src/cli', 'fast-check'],
  'nothing-imports-tests': ['src/cli', '../../test/support/eventually.ts'],
};

describe('the rooms of the house', () => {
  test('every import keeps to the rules', async () => {
    const { totalCruised, violations: found } = await violations();
    expect(totalCruised).toBeGreaterThan(100);
    expect(found.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  test('every rule finds an import that breaks it', async () => {
    for (const [rule, [folder, imported]] of Object.entries(offences)) {
      await plant(`${folder}/planted-${rule}.ts`, `import '${imported}';\n`);
    }
    const { violations: found } = await violations();
    const rules = JSON.parse(await readFile('.dependency-cruiser.json', 'utf8')) as {
      forbidden: { name: string }[];
    };
    const named = found.map(({ rule, from }) => `${rule.name} in ${from.split('/').at(-1)}`);
    expect(named).toEqual(
      expect.arrayContaining(rules.forbidden.map(({ name }) => `${name} in planted-${name}.ts`)),
    );
  });
});

async function* sources(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && /\.tsx?$/.test(entry.name)) yield join(entry.parentPath, entry.name);
  }
}

test('features take randomness from World', async () => {
  const random = /Math\.random|getRandomValues|import[^;]*random(UUID|Int|Bytes|Fill)[^;]*'node:crypto'/;
  const found: string[] = [];
  for await (const path of sources('src/daemon/features')) {
    if (random.test(await readFile(path, 'utf8'))) found.push(path);
  }
  expect(found).toEqual([]);
});

test('features find no clock, timer, network, process or console among the globals', async () => {
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
    (refused: { stdout: string }) => refused,
  );
  for (const name of names) expect(stdout).toContain(`the global variable ${name}.`);
});

test('every library has its home and its reason written down', async () => {
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const page = await readFile('docs/decisions/2026-11-21-libraries.md', 'utf8');
  expect(Object.keys(dependencies).filter((name) => !page.includes(name))).toEqual([]);
});

describe('the map in docs/architecture.md', () => {
  const page = () => readFile('docs/architecture.md', 'utf8');

  test('has every room and every feature', async () => {
    const [, tree = ''] = /## The tree\s+```\n(.*?)```/s.exec(await page()) ?? [];
    const features = await readdir('src/daemon/features');
    const rooms = (await readdir('src/daemon', { withFileTypes: true })).filter((it) => it.isDirectory());
    const missing = [...features, ...rooms.map(({ name }) => name)].filter(
      (name) => !tree.includes(`${name}/`),
    );
    expect(missing, 'to be named in the tree').toEqual([]);
  });

  test('walks through functions that are where it says', async () => {
    const walk: Record<string, string[]> = {
      'http/request-lifecycle': ['startRequest', 'acceptRequest'],
      'http/endpoint-route': ['admission'],
      'features/idempotency/idempotency': ['once'],
      'features/inference/lifecycles/request/read-request': ['readRequest'],
      'features/inference/pipeline/start-call': ['admit', 'withHold'],
      'features/routing/open-route': ['openRoute'],
      'upstream/http-upstream': ['open'],
      'features/inference/pipeline/relay': ['relayStream'],
      'http/event-stream': ['writeEventStream'],
      'features/inference/pipeline/meter': ['settle', 'count'],
      'features/inference/lifecycles/request/response-session': ['keep'],
      'features/inference/formats/responses/stream': ['ResponsesStream', 'batch', 'finish'],
    };
    const [, told = ''] = /## One streamed call(.*?)\n- /s.exec(await page()) ?? [];
    for (const [file, names] of Object.entries(walk)) {
      const code = await readFile(`src/daemon/${file}.ts`, 'utf8');
      for (const name of names) {
        expect(told, file).toMatch(new RegExp(`\\b${name}\\b`));
        expect(code, `${name} in ${file}`).toMatch(
          new RegExp(`(function\\*?|class|async|#|^)\\s*${name}\\b`, 'm'),
        );
      }
    }
  });
});

test('the version in the code is the one in package.json', async () => {
  const { version } = await import('../src/shared/version.ts');
  const { version: published } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(version).toBe(published);
});
