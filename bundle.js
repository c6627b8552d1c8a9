import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/**
 * Small modules that come by the hundred: loading them one by one is most of a start. Everything else stays a package,
 * to be found, patched and audited as one.
 */
const bundled = new Set(['typebox', 'undici', 'commander', '@commander-js/extra-typings']);

/**
 * What every command loads, and what of it the daemon loads, too, lie in one file each: finding one takes Node longer
 * than reading it.
 */
const together = {
  command: [
    /\/build\/cli\/(program|context)\.js$/,
    /\/build\/cli\/(manifest\/[\w-]+|terminal\/process-context)\.js$/,
    /\/build\/cli\/failures\/cli-error\.js$/,
    /\/build\/cli\/hosts\/(hosts|host-file|host-address|local-daemon|send|pages)\.js$/,
    /\/build\/cli\/output\/(output|json|visible|style|time)\.js$/,
    /\/(commander|extra-typings)\//,
  ],
  common: [/\/build\/shared\/(errors|client|received-error|sse|folders|proxies|loopback)\.js$/],
};

/** To import a module of Node’s own is to make all that it exports, with some a second HTTP client: it is asked for instead. */
const askNode = {
  name: 'ask-node',
  renderChunk: (code) =>
    code.replace(
      /^import (?:\* as )?([\w$]+)?(?:, )?(\{.*\})? from "(node:[\w/]+)";$/gm,
      (_, whole, names, module) => {
        const asked = `globalThis.process.getBuiltinModule("${module}")`;
        const patterns = [whole, names?.replaceAll(' as ', ': ')].filter(Boolean);
        return patterns.map((pattern) => `const ${pattern} = ${asked};`).join(' ');
      },
    ),
};

// By its function and not its command, which lists every file that it writes.
await build({
  input: {
    cli: 'build/cli/main.js',
    daemon: 'build/daemon/main.js',
    'writer-worker': 'build/daemon/storage/sqlite/engine/writer-worker.js',
    'reader-worker': 'build/daemon/storage/sqlite/engine/reader-worker.js',
    'keychain-child': 'build/keychain/keychain-child.js',
  },
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  external: Object.keys(dependencies)
    .filter((name) => !bundled.has(name))
    .map((name) => new RegExp(`^${name}(/|$)`)),
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    // Flat, as workers and the keychain's process are started by a path beside the module that starts them.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: Object.entries(together).map(([name, tests]) => ({
        name,
        test: (id) => tests.some((it) => it.test(id)),
      })),
    },
    plugins: [askNode],
  },
});

// Read by the daemon from beside itself, as in the sources.
for (const name of ['reference-page.css', 'reference-page.js'])
  copyFileSync(`src/daemon/http/reference-page/${name}`, `dist/${name}`);

const { schemaDocument } = await import('./build/daemon/config/schema-document.js');
writeFileSync('dist/config.schema.json', `${JSON.stringify(schemaDocument(), null, 2)}\n`);
