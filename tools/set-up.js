// npm runs this after it has changed the clone's packages. Every Node that can run npm has to understand it.
import { existsSync, symlinkSync } from 'node:fs';
import { findNode } from './find-node.js';
import { isWindows, run } from './processes.js';

/** Makes a program available to npm's scripts and to npx. On Windows, links need permission. */
function link(name, target) {
  const path = `node_modules/.bin/${name}`;
  if (!isWindows && !existsSync(path)) symlinkSync(target, path);
}

const node = findNode();
if (node !== process.execPath) link('node', `../../${node}`);
link('gateway', '../../bin/gateway.js');
// The first npx in a clone makes npm set the clone up once more.
if (process.env.npm_command !== 'exec' || !existsSync('dist/cli.js'))
  run(node, ['--disable-warning=ExperimentalWarning', 'tools/build/bundle.js']);
