import { existsSync, readdirSync } from 'node:fs';
import { isWindows, run } from './processes.js';

const packages = 'tools/own-node/node_modules';

/** A Node that can run the program: this one, or the clone's own, which is installed if needed. Exits if there is none. */
export function findNode() {
  const parts = process.versions.node.split('.').map(Number);
  if (parts[0] > 22 || (parts[0] === 22 && parts[1] >= 19)) return process.execPath;
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  if (!ownNode()) run('npm', ['install', '--prefix', 'tools/own-node', ...options]);
  const own = ownNode();
  if (!own) {
    process.stderr.write('Node 22.19 or newer is needed, and npm has none for this platform.\n');
    process.exit(1);
  }
  return own;
}

function ownNode() {
  // Of the packages for all platforms, npm installs the one for this.
  const names = existsSync(packages) ? readdirSync(packages) : [];
  const name = names.find((one) => one.startsWith('node-'));
  return name && `${packages}/${name}/bin/${isWindows ? 'node.exe' : 'node'}`;
}
