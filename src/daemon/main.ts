import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../shared/errors.ts';
import { dataFiles } from '../shared/folders.ts';
import { idMaker } from '../shared/ids.ts';
import { isoTime } from '../shared/time.ts';
import { version } from '../shared/version.ts';
import { createApp } from './app.ts';
import { type Config, loadConfig } from './config/config.ts';
import { dataKey, prepareDataFolder, readSecretFile, removeFile, writeSecretFile } from './data-folder.ts';
import { findProviders, makeProviders } from './find-providers.ts';
import { createServer } from './http/server.ts';
import { createLog } from './log.ts';
import { stopRequests } from './signals.ts';
import { explainFailure } from './start-failures.ts';
import { openSqliteStorage } from './storage/sqlite/open.ts';
import { createNetwork } from './upstream/network.ts';
import { welcome } from './welcome.ts';
import type { World } from './world.ts';

export interface ServeOptions {
  port?: number;
  host?: string;
  dataFolder?: string;
  configFile?: string;
  /** A script for the simulator. */
  simulate?: string;
  logLevel?: string;
  env: Record<string, string | undefined>;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** Running calls may take this long to end once the daemon was asked to stop; a second signal shortens it. */
const drainMs = 25_000;
const hurriedDrainMs = 5_000;

/** Serves until it is told to stop; resolves to the exit code. A start that fails is explained on stderr. */
export async function serve(options: ServeOptions): Promise<number> {
  try {
    const { env, stdout, stderr, ...flags } = options;
    const config = await loadConfig({ flags, env, platform: process.platform, home: homedir() });
    return await run(config, { stdout, stderr });
  } catch (error) {
    const { text, exit } = await explainFailure(error);
    options.stderr.write(`${text}\n`);
    return exit;
  }
}

async function run(config: Config, io: Pick<ServeOptions, 'stdout' | 'stderr'>): Promise<number> {
  await prepareDataFolder(config.dataFolder);
  const log = createLog(config.logLevel);
  const network = createNetwork({ connectTimeoutMs: config.timeouts.connectMs });
  const world = realWorld(network.send);
  const storage = await openSqliteStorage({ folder: config.dataFolder, now: world.now, log });
  const stop = new AbortController();
  let exit: number = exitCodes.done;
  storage.onFatal((reason) => {
    log.error({ err: reason }, 'storage cannot go on');
    exit = exitCodes.workerDied;
    stop.abort('fatal');
  });
  try {
    await start(config, { world, storage, log, io, stop });
  } finally {
    await storage.close();
    await network.close();
  }
  return exit;
}

interface Running {
  world: World;
  storage: Awaited<ReturnType<typeof openSqliteStorage>>;
  log: ReturnType<typeof createLog>;
  io: Pick<ServeOptions, 'stdout' | 'stderr'>;
  stop: AbortController;
}

async function start(config: Config, { world, storage, log, io, stop }: Running): Promise<void> {
  const file = (name: keyof typeof dataFiles) => `${config.dataFolder}/${dataFiles[name]}`;
  const makeId = idMaker(world.now, world.randomBytes);
  const startedAt = world.now();
  let url = '';
  const providers = await makeProviders(config, { world, makeId });
  const app = createApp({
    storage,
    world,
    makeId,
    providers,
    aliases: config.aliases,
    marginPpm: config.marginPpm,
    responsesKeptMs: config.responsesKeptMs,
    dataKey: await dataKey(file('dataKey'), world.randomBytes),
    log,
    process: { url: () => url, pid: process.pid, version, dataFolder: config.dataFolder, startedAt },
    stop: () => stop.abort('asked'),
  });
  const first = await firstSecrets(app, file);
  await app.recover();
  const server = await createServer({
    handlers: app.handlers,
    authenticate: app.authenticate,
    makeRequestId: () => makeId('req'),
    log,
    version,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.corsOrigins,
  });
  const requests = stopRequests(stop.signal);
  try {
    ({ url } = await server.listen({ host: config.host, port: config.port }));
    const started = {
      url,
      pid: process.pid,
      version,
      data_dir: config.dataFolder,
      started_at: isoTime(startedAt),
    };
    await writeSecretFile(file('daemon'), JSON.stringify(started));
    const background = new AbortController();
    const found = findProviders(config, { world, makeId }).then((local) => {
      if (local.length > 0) app.addProviders(local);
      return local;
    });
    io.stdout.write(await welcome({ url, config, isFresh: first.isFresh, providers, found }));
    const working = Promise.all([app.runBackground(background.signal), afterStart(app, storage, log)]);
    await requests.first;
    app.closeEvents();
    await Promise.race([server.drain(drainMs), requests.second.then(() => server.drain(hurriedDrainMs))]);
    background.abort();
    await working;
  } finally {
    requests.ignore();
    await server.close();
    await removeFile(file('daemon'));
  }
}

/** Work that may take long and need not be done before the first call. */
async function afterStart(
  app: ReturnType<typeof createApp>,
  storage: Running['storage'],
  log: Running['log'],
): Promise<void> {
  await app.catalog.load().catch((error: unknown) => log.warn({ err: error }, 'the prices cannot be loaded'));
  const { ok, problems } = await storage.check();
  if (!ok) log.error({ problems }, 'the data failed its check; nothing is written any more');
}

/** What the first start makes, written where the commands find it. */
async function firstSecrets(
  app: ReturnType<typeof createApp>,
  file: (name: keyof typeof dataFiles) => string,
) {
  const login = await readSecretFile(file('login'));
  const defaultKey = await readSecretFile(file('defaultKey'));
  const first = await app.bootstrap({ login, defaultKey });
  if (first.write.login !== undefined) await writeSecretFile(file('login'), first.write.login);
  if (first.write.defaultKey !== undefined) await writeSecretFile(file('defaultKey'), first.write.defaultKey);
  return first;
}

function realWorld(send: World['send']): World {
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    sleep: async (ms, signal) => {
      await sleep(ms, undefined, { signal });
    },
    randomBytes: (count) => randomBytes(count),
    send,
  };
}
