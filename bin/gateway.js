#!/usr/bin/env node
// Readable by any Node: in a clone it hands over to the clone's own Node when this one is too old, else it says so.
// biome-ignore-all lint/style/useTemplate: an old Node must be able to read this file.
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 22 || (parts[0] === 22 && parts[1] < 19)) {
  Promise.all([import('node:child_process'), import('node:url')]).then((modules) => {
    var own = process.platform === 'win32' ? 'node.exe' : 'node';
    var paths = ['../node_modules/node/bin/' + own, './gateway.js'].map((path) =>
      modules[1].fileURLToPath(new URL(path, import.meta.url)),
    );
    // The channel tells the child when this process is gone, even if it was killed.
    var child = modules[0].spawn(paths[0], paths.slice(1).concat(process.argv.slice(2)), {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: Object.assign({}, process.env, { GATEWAY_HANDED_OVER: '1' }),
    });
    var pass = (signal) => child.kill(signal);
    process.on('SIGTERM', pass);
    process.on('SIGHUP', pass);
    // Ctrl-C reaches the child by itself.
    process.on('SIGINT', () => {});
    child.on('error', () => {
      process.stderr.write(
        'gateway needs Node 22.19 or newer; this is Node ' + process.versions.node + '.\n',
      );
      process.stderr.write(
        'Install a newer one. In a clone, npm ci brings one, unless install scripts are off.\n',
      );
      process.exit(1);
    });
    child.on('exit', (code, signal) => {
      if (signal === null) process.exit(code);
      process.removeListener('SIGTERM', pass);
      process.removeListener('SIGHUP', pass);
      process.kill(process.pid, signal);
    });
  });
} else {
  if (process.env.GATEWAY_HANDED_OVER && process.channel) {
    delete process.env.GATEWAY_HANDED_OVER;
    process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
    process.channel.unref();
  }
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
