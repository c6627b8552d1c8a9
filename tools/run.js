/**
 * Runs a script of this repository with all that it needs: `node tools/run.js test/long kills 50` runs `test/long/kills.ts`, and
 * `node tools/run.js test/bench` runs `test/bench/bench.ts`. In a new clone, or after packages have changed, it first installs
 * what tests and checks need, and a Node for the clone if this one is too old. Every Node that can run npm has to
 * understand this file.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { findNode } from './find-node.js';
import { run } from './processes.js';

const stamp = 'node_modules/.set-up';

/** Another text after a change of what is wanted or of what is installed. */
function state() {
  const hash = createHash('sha256');
  for (const path of [
    'package-lock.json',
    'package.json',
    'test/package.json',
    'node_modules/.package-lock.json',
  ])
    hash.update(existsSync(path) ? readFileSync(path) : '');
  return hash.digest('hex');
}

/** The script that a path or a folder and a name stand for, with the arguments that are left; undefined if there is none. */
function findScript([path = '', ...args]) {
  if (path.endsWith('.ts')) return [path, ...args];
  const isNamed = args[0] !== undefined && !args[0].startsWith('-');
  const script = `${path}/${isNamed ? args[0] : basename(path)}.ts`;
  return existsSync(script) ? [script, ...args.slice(isNamed ? 1 : 0)] : undefined;
}

const [folder] = process.argv.slice(2);
const script = findScript(process.argv.slice(2));
if (script === undefined) {
  const names = readdirSync(folder).flatMap((name) => (name.endsWith('.ts') ? [name.slice(0, -3)] : []));
  process.stderr.write(`Name one of ${folder}: ${names.join(', ')}.\n`);
  process.exit(2);
}
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== state()) {
  run('npm', ['run', 'setup']);
  writeFileSync(stamp, state());
}
run(findNode(), ['--disable-warning=ExperimentalWarning', ...script]);
