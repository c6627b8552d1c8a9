#!/usr/bin/env node
// A shim, readable by any Node: it says what is wrong when Node is too old, then hands over.
// biome-ignore-all lint/style/useTemplate: an old Node must be able to read this file.
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 22 || (parts[0] === 22 && parts[1] < 19)) {
  process.stderr.write('gateway needs Node 22.19 or newer; this is Node ' + process.versions.node + '.\n');
  process.stderr.write(
    'Install a newer one. In a clone, npm ci brings one for npx gateway, unless install scripts are off.\n',
  );
  process.exit(1);
} else {
  process.getBuiltinModule('node:module').enableCompileCache();
  import('../dist/cli.js').then(
    (cli) =>
      cli.main({
        serve: () => import('../dist/daemon.js'),
      }),
    (error) => {
      if (!/^Cannot find module .*cli\.js' imported from .*gateway\.js$/.test(error.message)) throw error;
      process.stderr.write('Nothing is built here yet: npm run build\n');
      process.exit(1);
    },
  );
}
