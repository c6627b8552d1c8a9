import { homedir } from 'node:os';
import { createChatCompletion } from '../shared/contract/chat-completions.ts';
import { createResponse } from '../shared/contract/responses.ts';
import type { ConfigTools, ServeOptions } from '../shared/daemon-module.ts';
import { exitCodes } from '../shared/errors.ts';
import type { DaemonFile } from '../shared/folders.ts';
import { idMaker, type MakeId } from '../shared/ids.ts';
import type { RestoreOptions, RestoreOutcome } from '../shared/restore.ts';
import { isoTime } from '../shared/time.ts';
import { version } from '../shared/version.ts';
import { createApp } from './app.ts';
import { liveSettings } from './composition/live-settings.ts';
import { vaultSettings } from './composition/master-stores.ts';
import { createOutgoing, type Outgoing } from './composition/outgoing.ts';
import { findProviders, makeProviders } from './composition/providers-from-config.ts';
import { requestLogger } from './composition/request-logger.ts';
import { type Config, type ConfigFlags, loadConfig } from './config/config.ts';
import { createServer } from './http/server.ts';
import { prepareBodyCheck } from './http/validation/input-check.ts';
import { backupFiles } from './process/backup-files.ts';
import {
  dataFileIn,
  dataKey,
  prepareDataFolder,
  readSecretFile,
  removeFile,
  writeSecretFile,
} from './process/data-folder.ts';
import { type DrainTimes, drain } from './process/drain.ts';
import { firstSecrets } from './process/first-secrets.ts';
import { createLog, noteInFile } from './process/log.ts';
import { tellingBodies } from './process/log-bodies.ts';
import { openLogFile } from './process/log-file.ts';
import { createReloads } from './process/reloads.ts';
import { stopRequests } from './process/signals.ts';
import { explainFailure } from './process/start-failures.ts';
import { startTicks } from './process/start-ticks.ts';
import { unlockAtStart } from './process/unlock-at-start.ts';
import { watchConfig } from './process/watch-config.ts';
import { welcome } from './process/welcome.ts';
import { elapsed, worldOfProcess } from './process/world-of-process.ts';
import { DataMoved } from './storage/sqlite/engine/errors.ts';
import { openSqliteStorage } from './storage/sqlite/open.ts';
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts';
import { type World, within } from './world.ts';

/** Service managers kill what has not ended after 30 seconds or more. */
const usualDrain: DrainTimes = { patientMs: 25_000, hurriedMs: 5_000 };

/** Serves until it is told to stop; resolves to the exit code. A start that fails is explained on stderr. */
export async function serve(options: ServeOptions & { drain?: DrainTimes }): Promise<number> {
  try {
    const { env, stdout, stderr, askSecret, drain = usualDrain, ...flags } = options;
    const config = await loadConfig({ flags, env, platform: process.platform, home: homedir() });
    return await run(config, { env, stdout, stderr, askSecret, drain, flags });
  } catch (error) {
    const { text, exit } = await explainFailure(error);
    options.stderr.write(`${text}\n`);
    return exit;
  }
}

/** Puts a backup in the place of the data, while no daemon runs. */
export async function restore(options: RestoreOptions): Promise<RestoreOutcome> {
  return (await import('./process/restore.ts')).restore(options);
}

/** What commands do with the configuration where no daemon is asked. */
export async function loadConfigTools(): Promise<ConfigTools> {
  return (await import('./config/tools.ts')).configTools;
}

type Surroundings = Pick<ServeOptions, 'env' | 'stdout' | 'stderr' | 'askSecret'> & {
  drain: DrainTimes;
  flags: ConfigFlags;
};

async function run(config: Config, io: Surroundings): Promise<number> {
  await prepareDataFolder(config.dataFolder);
  const logFile = openLogFile({ folder: config.dataFolder });
  const log = createLog(config.logLevel, logFile);
  const network = await createOutgoing(config, { elapsed, log, stderr: io.stderr });
  const world = worldOfProcess(network.send);
  const opening = openSqliteStorage({ folder: config.dataFolder, now: world.now, log });
  // The writer's thread takes its time to start, and this one would wait: the first call finds its check compiled.
  for (const endpoint of [createResponse, createChatCompletion]) prepareBodyCheck(endpoint);
  const storage = await opening;
  const stop = new AbortController();
  const died = new AbortController();
  let exit: number = exitCodes.done;
  storage.onFatal((reason) => {
    log.error({ err: reason }, 'storage cannot go on');
    exit = reason instanceof DataMoved ? exitCodes.dataNeedsRepair : exitCodes.workerDied;
    died.abort('storage');
    stop.abort('storage');
  });
  try {
    await start(network.config, { network, logFile, world, storage, log, io, stop, died: died.signal });
  } finally {
    await storage.close();
    await network.close();
  }
  noteInFile(logFile, world.now(), { pid: process.pid, exit }, 'the daemon has ended');
  logFile.close();
  return exit;
}

interface Running {
  network: Pick<Outgoing, 'adaptConfigForReplay'>;
  logFile: ReturnType<typeof openLogFile>;
  world: World;
  storage: Awaited<ReturnType<typeof openSqliteStorage>>;
  log: ReturnType<typeof createLog>;
  io: Surroundings;
  stop: AbortController;
  /** Aborted when nothing can be written any more: running calls are not worth waiting for then. */
  died: AbortSignal;
}

type AppParts = Pick<Parameters<typeof createApp>[0], 'makeId' | 'providers' | 'telemetry' | 'process'>;

async function appOf(config: Config, { world, storage, log, io, network, stop }: Running, parts: AppParts) {
  const file = dataFileIn(config.dataFolder);
  const { makeId } = parts;
  const live = liveSettings(config);
  const reloads = createReloads({
    ...{ config, live, io, log, adaptConfigForReplay: network.adaptConfigForReplay },
    makeProviders: (next) => makeProviders(next, { world, makeId }),
    replaceProviders: (made) => app.replaceProviders(made),
  });
  const app = createApp({
    ...parts,
    ...{ storage, world, live, log, reloader: reloads },
    vault: vaultSettings(config, io.env),
    dataKey: await dataKey(file('dataKey'), world.randomBytes),
    backupFiles: () => backupFiles(config),
    keepListings: (listings) => writeSecretFile(file('listings'), listings),
    stop: () => stop.abort('asked'),
  });
  return { app, reloads };
}

async function start(config: Config, running: Running): Promise<void> {
  const { world, log, io, stop } = running;
  const file = dataFileIn(config.dataFolder);
  const makeId = idMaker(world.now, world.randomBytes);
  const startedAt = world.now();
  let url = '';
  const providers = await makeProviders(config, { world, makeId });
  const telemetry = await createTelemetry({ otlp: config.otlp, version, now: world.now });
  const { dataFolder, host, port, socketFile } = config;
  const socket = socketFile?.path ?? null;
  const facts = { url: () => url, socket, pid: process.pid, version, dataFolder, startedAt };
  const { app, reloads } = await appOf(config, running, { makeId, providers, telemetry, process: facts });
  const listings = await readSecretFile(file('listings'));
  if (listings !== undefined) app.restoreListings(listings);
  const { isFresh, hasDefaultKey } = await firstSecrets(app, file);
  await app.recover();
  const server = await serverOf(config, { ...running, app, makeId, telemetry });
  const requests = stopRequests(stop.signal);
  const unwatch = watchConfig({
    file: config.configFile,
    reload: reloads.reloadAndTell,
    onHangUp: () => stop.abort('asked'),
    isOnTerminal: (io.stdout as { isTty?: boolean }).isTty === true,
  });
  try {
    ({ url } = await server.listen({ host, port, socketFile }));
    await tellStart(config, running, { url, socket, startedAt });
    const [background, asking] = [new AbortController(), new AbortController()];
    const found = findProviders(config, { world, makeId }).then((local) => {
      if (local.length > 0) app.addProviders(local);
      return local;
    });
    io.stdout.write(await welcome({ url, config, isFresh, hasDefaultKey, providers, found }));
    const working = app.runBackground(background.signal);
    if (config.vault.passphraseFile === undefined) {
      void unlockAtStart({ vault: app.vault, ask: io.askSecret, stderr: io.stderr, log }, asking.signal);
    }
    void afterStart(app, running, background.signal);
    await requests.first;
    asking.abort();
    app.closeEvents();
    await drain([server, app], {
      times: io.drain,
      askedAgain: requests.second,
      died: running.died,
      stderr: io.stderr,
    });
    background.abort();
    await working;
  } finally {
    requests.ignore();
    unwatch();
    await server.close();
    await removeFile(file('daemon'));
    await within(world, telemetry.close(), tellingMs);
  }
}

/** Leaves the file by which commands find the daemon, and a line in the log. */
async function tellStart(
  { dataFolder }: Config,
  { logFile, world }: Running,
  { url, socket, startedAt }: { url: string; socket: string | null; startedAt: number },
): Promise<void> {
  const started = { pid: process.pid, version, data_dir: dataFolder, started_at: isoTime(startedAt) };
  const facts: DaemonFile = { url, socket, start_ticks: await startTicks(), ...started };
  await writeSecretFile(dataFileIn(dataFolder)('daemon'), JSON.stringify(facts));
  noteInFile(logFile, world.now(), facts, 'the daemon has started');
}

/** What waits to be told to a collector has so long; one that is dead keeps nobody from stopping. */
const tellingMs = 1_500;

interface ServerDeps {
  app: ReturnType<typeof createApp>;
  storage: Running['storage'];
  makeId: MakeId;
  log: Running['log'];
  telemetry: Telemetry;
}

async function serverOf(config: Config, { app, storage, makeId, log, telemetry }: ServerDeps) {
  const server = await createServer({
    handlers: config.logsBodies ? app.handlers.map((it) => tellingBodies(it, log)) : app.handlers,
    authenticate: app.authenticate,
    makeRequestId: () => makeId('req'),
    log,
    version,
    shedsLoad: config.shedsLoad,
    isDiskFull: storage.isDiskFull,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.corsOrigins,
    onFinish: requestLogger(log, telemetry),
    onParent: telemetry.parent,
  });
  telemetry.watch(server.running);
  return server;
}

/** Work that may take long and need not be done before the first call. Never rejects. */
async function afterStart(
  app: ReturnType<typeof createApp>,
  { storage, log }: Running,
  stopped: AbortSignal,
): Promise<void> {
  await app.catalog.load().catch((error: unknown) => log.warn({ err: error }, 'the prices cannot be loaded'));
  if (stopped.aborted) return;
  try {
    const { ok, problems } = await storage.check();
    if (!ok) log.error({ problems }, 'the data failed its check; nothing is written any more');
  } catch (error) {
    // A stop does not wait for a long check.
    if (!stopped.aborted) log.warn({ err: error }, 'the data could not be checked');
  }
}
