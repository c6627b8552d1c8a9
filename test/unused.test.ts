import { glob, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

/** Generated, and used through `import *`. */
const usedAsOne = /^src\/(shared\/endpoints|daemon\/storage\/sqlite\/.*tables)\.ts$/;
/** Needed by another package: `@commander-js/extra-typings` has only types. */
const notImported = ['commander'];
/** Schemas are exported for the documents that are made of all of them. */
const contracts = /^src\/shared\/contract\//;

const declared = /^export (?:async |abstract )*(function\*?|const|class|interface|type) (\w+)/gm;
const passedOn = /^export (?:type )?\{([^}]+)\} from/gm;

interface Source {
  path: string;
  text: string;
}

const sources: Source[] = [];
/** The files that contain each word. */
const filesOf = new Map<string, Set<string>>();

beforeAll(async () => {
  const paths = glob(['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}', 'tools/**/*.{js,ts}'], {
    // Another test plants files and removes them.
    exclude: ['**/node_modules', '**/planted-*'],
  });
  for await (const path of paths) sources.push({ path, text: await readFile(path, 'utf8') });
  for (const { path, text } of sources)
    for (const [word] of text.matchAll(/[\w$]+/g)) {
      const files = filesOf.get(word);
      if (files) files.add(path);
      else filesOf.set(word, new Set([path]));
    }
});

function isUsed(name: string, where: (path: string) => boolean): boolean {
  for (const path of filesOf.get(name) ?? []) if (where(path)) return true;
  return false;
}

test('what a file exports is used, functions and values by another file', () => {
  const unused: string[] = [];
  for (const { path, text } of sources) {
    if (!path.startsWith('src/') || usedAsOne.test(path)) continue;
    for (const [, kind = '', name = ''] of text.matchAll(declared)) {
      if (isUsed(name, (user) => user !== path)) continue;
      // Compared with the schema by its test.
      if (text.includes(`export const ${name} = sqliteTable(`)) continue;
      const isType = kind === 'interface' || kind === 'type';
      // A type may be part of another export.
      const isPart = (isType || contracts.test(path)) && text.split(new RegExp(`\\b${name}\\b`)).length > 2;
      if (!isPart) unused.push(`${path}: ${name}`);
    }
  }
  expect(unused).toEqual([]);
});

test('what a folder passes on is used outside of it', () => {
  const unused: string[] = [];
  for (const { path, text } of sources) {
    if (!path.startsWith('src/')) continue;
    const isOutside = (user: string) => !user.startsWith(`${dirname(path)}/`);
    for (const [, list = ''] of text.matchAll(passedOn))
      for (const each of list.split(',')) {
        const name = each.trim().split(/\s+/).at(-1);
        if (name && !isUsed(name, isOutside)) unused.push(`${path}: ${name}`);
      }
  }
  expect(unused).toEqual([]);
});

test('every package of the program is named by a file of it', async () => {
  const { dependencies, devDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const texts = sources.filter(({ path }) => !path.startsWith('test/')).map(({ text }) => text);
  const isNamed = (name: string) =>
    texts.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
  const packages = Object.keys({ ...dependencies, ...devDependencies });
  expect(packages.filter((name) => !notImported.includes(name) && !isNamed(name))).toEqual([]);
});
