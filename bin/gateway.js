#!/usr/bin/env node
// Readable by any Node: in a clone it hands over to the clone's own Node when this one is too old, else it says so.
// biome-ignore-all lint/style/useTemplate: an old Node must be able to read this file.
// By default, this signal opens the inspector, through which every process of this machine can read all secrets.
process.on('SIGUSR1', () => {});
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 22 || (parts[0] === 22 && parts[1] < 19)) {
  Promise.all([import('node:child_process'), import('node:url')]).then((modules) => {
    var own =
      process.platform === 'win32'
        ? '../tools/own-node/node_modules/node-win-' + process.arch + '/bin/node.exe'
        : '../node_modules/.bin/node';
    var paths = [own, './gateway.js'].map((path) => modules[1].fileURLToPath(new URL(path, import.meta.url)));
    // The channel tells the child when this process is gone, even if it was killed.
    var child = modules[0].spawn(paths[0], paths.slice(1).concat(process.argv.slice(2)), {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: Object.assign({}, process.env, { GATEWAY_HANDED_OVER: '1' }),
    });
    var pass = (signal) => child.kill(signal);
    process.on('SIGTERM', pass);
    process.on('SIGHUP', pass);
    // npm passes on no signal.
    var parent = process.ppid;
    if (process.env.npm_config_user_agent) {
      setInterval(() => {
        if (process.ppid !== parent) child.kill('SIGTERM');
      }, 1000).unref();
    }
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
  // The daemon keeps what it loads; a command ends before this pays off.
  if (process.argv[2] === 'serve') growYoungGeneration();
  enableCompileCache();
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

/**
 * Node runs cached code without a check. Its default folder is within the temporary one, where another user could create
 * it first: here it is one that only this user can write to. Without one, starts take longer.
 */
function enableCompileCache() {
  const builtin = process.getBuiltinModule;
  const { enableCompileCache: enable } = builtin('node:module');
  const { env } = process;
  // On Windows, each user has a temporary folder.
  if (env.NODE_COMPILE_CACHE || process.platform === 'win32') return enable();
  const { existsSync, mkdirSync, statSync } = builtin('node:fs');
  const path = builtin('node:path');
  try {
    const isGiven = env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME);
    const caches = isGiven ? env.XDG_CACHE_HOME : path.join(builtin('node:os').homedir(), '.cache');
    if (!path.isAbsolute(caches)) return;
    const folder = path.join(caches, 'gateway');
    // Not its parents, too: a missing home folder stays missing.
    for (const one of [caches, folder]) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
    const { uid, mode } = statSync(folder);
    if (uid === process.getuid() && (mode & 0o022) === 0) enable(folder);
  } catch {
    // The home folder is missing or read-only.
  }
}

/**
 * V8 begins with a young generation of 1 MB, which fills eight times while the daemon loads, and copies most of it each time. Once as
 * much has survived, it grows by this factor. The option is reset right after, as V8 rejects code that was cached with other options.
 */
function growYoungGeneration() {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--semi-space-growth-factor=16');
  const kept = [];
  for (let kilobytes = 0; kilobytes < 1152; kilobytes += 16) kept.push(new Array(2048).fill(0));
  setFlagsFromString('--semi-space-growth-factor=2');
}
