import { createHash } from 'node:crypto';
import { copyFileSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'rolldown';
import { noteBuild } from './built.ts';
import { drizzle } from './bundle-drizzle.ts';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/**
 * What every command loads, and what of it the daemon loads, too, lie in one file each: finding one takes Node longer
 * than reading it.
 */
const together = {
  command: [
    /\/src\/cli\/(program|context|process-context|options)\.ts$/,
    /\/src\/shared\/endpoints\.ts$/,
    /\/src\/cli\/manifest\/[\w-]+\.ts$/,
    /\/src\/cli\/failures\/cli-error\.ts$/,
    /\/src\/cli\/hosts\/(hosts|host-file|host-address|local-daemon|send|pages)\.ts$/,
    /\/src\/cli\/output\/(output|escape-controls|style)\.ts$/,
    /\/src\/view\/durations\.ts$/,
    /\/src\/cli\/terminal\/exit-on-failed-write\.ts$/,
    /\/(commander|extra-typings)\//,
  ],
  common: [/\/src\/shared\/(errors|client|faults\/received-error|http\/(sse|loopback)|proxies|folders)\.ts$/],
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

/**
 * Node keeps the text of a file in memory, twice as large if one of its characters is not ASCII: such characters are
 * escaped. Not where that would change their meaning: after a backslash, and in a tagged template.
 */
const ascii = {
  name: 'ascii',
  generateBundle(_options, chunks) {
    for (const chunk of Object.values(chunks)) {
      if (chunk.type !== 'chunk') continue;
      if (/(String\.raw`[^`]*|\\)[^\0-\x7f]/.test(chunk.code))
        throw new Error(`${chunk.fileName}: a character that is not ASCII cannot be escaped`);
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/** Compiles the bodies of frequent model calls: compiled-bodies.ts says why. */
const compiledBodies = {
  name: 'compiled-bodies',
  async transform(_code, id) {
    if (!id.endsWith('/http/validation/compiled-bodies.ts')) return;
    const { ajvOptions } = await import('../../src/daemon/http/validation/input-check.ts');
    const { standalone } = await import('../../src/shared/contract/schema.ts');
    const { createResponse } = await import('../../src/shared/contract/responses.ts');
    const { createChatCompletion } = await import('../../src/shared/contract/chat-completions.ts');
    const code = { source: true, esm: true };
    const ajv = new Ajv({ ...ajvOptions({ coerce: false, all: false }), code });
    const endpoints = [createResponse, createChatCompletion];
    for (const { id, body } of endpoints) ajv.addSchema(standalone(body), id);
    const ids = endpoints.map(({ id }) => id);
    const source = standaloneCode.default(ajv, Object.fromEntries(ids.map((id) => [id, id])));
    return `${source}\nexport const compiledBodies = { ${ids.join(', ')} };`;
  },
};

/** pino asks who calls it, for transports, which the daemon has none of. V8 would search the whole script for line ends: 12 ms. */
const callerless = {
  name: 'callerless',
  load: (id) => (id.endsWith('/pino/lib/caller.js') ? 'module.exports = () => [];' : null),
};

/** A warning fails the build, as no one reads it. */
const strict = { onLog: (level, log, handle) => handle(level === 'warn' ? 'error' : level, log) };

const common = {
  ...strict,
  platform: 'node',
  // Dependencies stay packages. What else is imported is bundled: a few functions of a large package, or small modules
  // that come by the hundred. React's tools for developers, and what `pg` could use in its own place, are not installed.
  external: [
    ...Object.keys(dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
    ...['react-devtools-core', 'pg-native', 'pg-cloudflare'],
  ],
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
};

const moduleOutput = {
  dir: 'dist',
  format: 'esm',
  // Flat, as workers and the keychain's process are started by a path beside the module that starts them.
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  // The sources have them. Licenses are written to a file below.
  comments: false,
  plugins: [askNode, ascii],
};

// By its function and not its command, which lists every file that it writes.
const modules = await build({
  ...common,
  input: {
    cli: 'src/cli/main.ts',
    daemon: 'src/daemon/compiled-main.ts',
    'reader-worker': 'src/daemon/storage/sqlite/reader-worker.ts',
    'server-worker': 'src/daemon/storage/postgres/server-worker.ts',
    'postgres-writer': 'src/daemon/storage/postgres/postgres-writer.ts',
    'postgres-reader': 'src/daemon/storage/postgres/postgres-reader.ts',
    'postgres-stores': 'src/daemon/storage/postgres/postgres-stores.ts',
    'postgres-backup': 'src/daemon/storage/postgres/postgres-backup.ts',
    'call-worker': 'src/daemon/workers/compiled-call-worker.ts',
    'content-worker': 'src/daemon/storage/content/content-worker.ts',
    'keychain-child': 'src/keychain/keychain-child.ts',
    'model-child': 'src/daemon/upstream/engine/model-child.ts',
  },
  plugins: [drizzle],
  preserveEntrySignatures: 'allow-extension',
  output: {
    ...moduleOutput,
    cleanDir: true,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: Object.entries(together).map(([name, tests]) => ({
        name,
        test: (id) => tests.some((it) => it.test(id)),
      })),
    },
  },
});

// By itself, as each start waits for it: what it shares with other threads would be a dozen files more to find.
const writer = await build({
  ...common,
  input: { 'writer-worker': 'src/daemon/storage/sqlite/writer-worker.ts' },
  plugins: [drizzle],
  output: moduleOutput,
});

/** What the daemon imports at its start lies in one file, also what is shared with scripts that are loaded on demand. */
const atStart = new Set();
const startModules = {
  name: 'start-modules',
  buildEnd() {
    const add = (id) => {
      if (atStart.has(id)) return;
      atStart.add(id);
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported);
    };
    for (const id of this.getModuleIds()) if (this.getModuleInfo(id)?.isEntry) add(id);
  },
};

// The daemon consists of scripts, which start faster than modules: compiled-main.ts says why.
const scripts = await build({
  ...common,
  input: { 'daemon-main': 'src/daemon/main.ts' },
  plugins: [drizzle, compiledBodies, callerless, startModules],
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: 'dist',
    format: 'cjs',
    // As in the modules that they are made of.
    intro: '"use strict";',
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'start', test: (id) => atStart.has(id) }],
    },
    comments: false,
    plugins: [ascii],
  },
});

// The dashboard: modules for browsers, whose names change with their content, as browsers keep them for ever.
const web = await build({
  ...strict,
  platform: 'browser',
  input: { main: 'src/web/main.tsx' },
  tsconfig: 'src/web/tsconfig.json',
  transform: { target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } },
  output: {
    dir: 'dist/web',
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    // What several screens use is one file: each further one is a request that the first screen waits for.
    codeSplitting: {
      groups: [{ name: 'parts', test: /\/src\/(?!shared\/comparison|view\/conversation)/, minShareCount: 2 }],
    },
    minify: true,
    comments: false,
  },
});

/** Writes the page of the dashboard and its other files, and each file compressed beside itself. */
function writeWeb(chunks) {
  const write = (name, text) => {
    const hash = createHash('sha256').update(text).digest('base64url').replaceAll(/[-_]/g, '').slice(0, 8);
    const hashed = name.replace('.', `-${hash}.`);
    writeFileSync(`dist/web/${hashed}`, text);
    return hashed;
  };
  // The style of the whole page first, then those of its parts and screens.
  const sheets = globSync('src/web/**/*.css').sort(
    (a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1),
  );
  const css = ['node_modules/uplot/dist/uPlot.min.css', ...sheets].map((path) => readFileSync(path, 'utf8'));
  const style = write(
    'style.css',
    css
      .join('\n')
      .replaceAll(/\/\*.*?\*\//gs, '')
      .replaceAll(/\s*\n\s*/g, '\n'),
  );
  const icon = write('icon.svg', readFileSync('src/web/icon.svg', 'utf8'));
  const main = chunks.find(({ isEntry }) => isEntry);
  const early = main.imports.map((name) => `<link rel="modulepreload" href="assets/${name}">\n`);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const page = readFileSync('src/web/index.html', 'utf8')
    .replaceAll('{version}', version)
    .replace('{icon}', icon)
    .replace('{style}', style)
    .replace('{main}', main.fileName)
    .replace('{early}', early.join(''));
  for (const name of readdirSync('dist/web')) {
    const content = readFileSync(`dist/web/${name}`);
    writeFileSync(`dist/web/${name}.br`, brotliCompressSync(content));
    writeFileSync(`dist/web/${name}.gz`, gzipSync(content, { level: 9 }));
  }
  writeFileSync('dist/web/index.html', page);
}
writeWeb(web.output);

// Read by the daemon from beside itself, as in the sources.
for (const name of ['pages.css', 'reference-page.js', 'login-page.js'])
  copyFileSync(`src/daemon/http/pages/${name}`, `dist/${name}`);

// jq and the keychain's library look for their binaries beside themselves.
for (const platform of [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64',
  'linux-x64',
  'win32-arm64',
  'win32-x64',
]) {
  mkdirSync(`dist/prebuilds/${platform}`, { recursive: true });
  copyFileSync(
    `node_modules/keytar/prebuilds/${platform}/keytar.node`,
    `dist/prebuilds/${platform}/keytar.node`,
  );
}

mkdirSync('dist/build');
copyFileSync('node_modules/jq-wasm/dist/build/jq.wasm', 'dist/build/jq.wasm');

/** The licenses of all bundled packages, which have to accompany their code. */
function licenses() {
  const folders = [modules, writer, scripts, web]
    .flatMap(({ output }) => output)
    .flatMap(({ moduleIds = [] }) =>
      moduleIds.flatMap(
        (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/'))?.[0] ?? [],
      ),
    );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? '' : `\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
writeFileSync('dist/third-party-licenses.txt', licenses());

const { schemaDocument } = await import('../../src/daemon/config/schema-document.ts');
writeFileSync('dist/config.schema.json', `${JSON.stringify(schemaDocument(), null, 2)}\n`);

noteBuild();
