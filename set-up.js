// npm runs this after it has changed the clone's packages. Every Node that can run npm has to understand it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';

const isWindows = process.platform === 'win32';

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: isWindows && command === 'npm' });
  if (status !== 0) process.exit(status || 1);
}

/** A Node that can run the program: this one, or the clone's own, which is installed if needed. */
function findNode() {
  const parts = process.versions.node.split('.').map(Number);
  if (parts[0] > 22 || (parts[0] === 22 && parts[1] >= 19)) return process.execPath;
  const packages = 'own-node/node_modules';
  const findOwn = () => {
    // Of the packages for all platforms, npm installs the one for this.
    const names = existsSync(packages) ? readdirSync(packages) : [];
    const name = names.find((one) => one.startsWith('node-'));
    return name && `${packages}/${name}/bin/${isWindows ? 'node.exe' : 'node'}`;
  };
  if (!findOwn()) run('npm', ['install', '--prefix', 'own-node', '--no-save', '--ignore-scripts']);
  const own = findOwn();
  if (!own) {
    process.stderr.write('Node 22.19 or newer is needed, and npm has none for this platform.\n');
    process.exit(1);
  }
  link('node', `../../${own}`);
  return own;
}

/** Makes a program available to npm's scripts and to npx. On Windows, links need permission. */
function link(name, target) {
  const path = `node_modules/.bin/${name}`;
  if (!isWindows && !existsSync(path)) symlinkSync(target, path);
}

const node = findNode();
link('gateway', '../../bin/gateway.js');
// The first npx in a clone makes npm set the clone up once more.
if (process.env.npm_command !== 'exec' || !existsSync('dist/cli.js'))
  run(node, ['--disable-warning=ExperimentalWarning', 'bundle.js']);
