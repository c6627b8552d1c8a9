import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/**
 * Small modules that come by the hundred: loading them one by one is most of a start. Everything else stays a package,
 * to be found, patched and audited as one.
 */
const bundled = new Set(['typebox', 'undici', 'commander', '@commander-js/extra-typings']);

// By its function and not its command, which lists every file that it writes.
await build({
  input: {
    cli: 'build/cli/main.js',
    daemon: 'build/daemon/main.js',
    'writer-worker': 'build/daemon/storage/sqlite/writer-worker.js',
    'reader-worker': 'build/daemon/storage/sqlite/reader-worker.js',
    'keychain-child': 'build/keychain/keychain-child.js',
  },
  platform: 'node',
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
  },
});

// Read by the daemon from beside itself, as in the sources.
for (const name of ['reference-page.css', 'reference-page.js'])
  copyFileSync(`src/daemon/${name}`, `dist/${name}`);

const { schemaDocument } = await import('./build/daemon/config/schema-document.js');
writeFileSync('dist/config.schema.json', `${JSON.stringify(schemaDocument(), null, 2)}\n`);
