import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cruise, type IReporterOutput } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterEach, describe, expect, test } from 'vitest';

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

describe('the rooms of the house', () => {
  test('every import keeps to the rules', async () => {
    const { totalCruised, violations: found } = await violations();
    expect(totalCruised).toBeGreaterThan(100);
    expect(found.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  test('an import that breaks a rule is found', async () => {
    await plant('src/cli/planted.ts', "import '../daemon/world.ts';\n");
    await plant('src/daemon/features/keys/planted.ts', "import '../../http/server.ts';\nimport 'fastify';\n");
    await plant('src/keychain/planted.ts', "import 'keytar';\nimport '../daemon/world.ts';\n");
    await plant('src/cli/planted-keychain.ts', "import '../keychain/protocol.ts';\n");
    const { violations: found } = await violations();
    const broken = found.filter(({ from }) => from.includes('/planted')).map(({ rule }) => rule.name);
    expect(broken).toEqual(
      expect.arrayContaining([
        'cli-and-daemon-meet-over-http',
        'features-see-no-edges',
        'fastify-lives-in-http',
        'keychain-serves-both',
        'keychain-has-one-door',
        'keytar-lives-in-its-process',
      ]),
    );
  });
});

async function* sources(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && /\.tsx?$/.test(entry.name)) yield join(entry.parentPath, entry.name);
  }
}

test('features take randomness from World', async () => {
  const found: string[] = [];
  for await (const path of sources('src/daemon/features')) {
    if (/Math\.random|randomUUID|randomBytes\s*\}\s*from\s*'node:crypto'/.test(await readFile(path, 'utf8')))
      found.push(path);
  }
  expect(found).toEqual([]);
});

test('the version in the code is the one in package.json', async () => {
  const { version } = await import('../src/shared/version.ts');
  const { version: published } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(version).toBe(published);
});
