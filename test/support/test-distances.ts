import { globSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';

/** Imports that no text shows: of an alias, and of what is built. */
const builtOrReplaced: Readonly<Record<string, string[]>> = {
  'src/daemon/worker-threads/start-script.ts': ['test/support/start-script.ts'],
  'test/support/browser.ts': ['src/web/main.tsx'],
  'test/support/installed-package.ts': ['src/cli/main.ts', 'src/daemon/main.ts'],
};

const typeImport = /^(?:import|export) type [^;]*;/gm;
const pathInText = /['"`]((?:\.{1,2}\/|src\/|test\/)[^'"`\s]*)['"`]/g;

/** Which test files reach a source file through imports, and over how many. */
export class TestDistances {
  readonly tests: readonly string[];
  readonly #importers = new Map<string, Set<string>>();

  constructor() {
    const files = globSync(['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}'], {
      exclude: ['test/node_modules/**'],
    }).map((path) => path.replaceAll('\\', '/'));
    this.tests = files.filter((path) => path.endsWith('.test.ts')).sort();
    const known = new Set(files);
    const byFolder = Map.groupBy(files, (path) => dirname(path));
    for (const file of files) {
      const text = readFileSync(file, 'utf8').replace(typeImport, '');
      for (const [, path = ''] of text.matchAll(pathInText)) {
        const target = path.startsWith('.') ? posix.join(dirname(file), path) : posix.normalize(path);
        if (known.has(target)) this.#add(target, file);
        else for (const one of byFolder.get(target.replace(/\/$/, '')) ?? []) this.#add(one, file);
      }
      for (const target of builtOrReplaced[file] ?? []) this.#add(target, file);
    }
  }

  #add(imported: string, importer: string): void {
    const importers = this.#importers.get(imported);
    if (importers) importers.add(importer);
    else this.#importers.set(imported, new Set([importer]));
  }

  /** The distance of each test file that reaches this file; 1 if it imports it. */
  of(path: string): ReadonlyMap<string, number> {
    const found = new Map([[path, 0]]);
    for (const [file, distance] of found) {
      if (file.endsWith('.test.ts')) continue;
      for (const importer of this.#importers.get(file) ?? [])
        if (!found.has(importer)) found.set(importer, distance + 1);
    }
    return new Map([...found].filter(([file]) => file.endsWith('.test.ts')));
  }
}
